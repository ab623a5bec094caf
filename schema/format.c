/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/format-checks.h"
#include "schema/format.h"
#include "schema/pattern.h"

struct Format {
        const char *name;
        SchemaDraft since, until;
        FormatCheck check;
};

bool format_regex(const char *text, size_t size) {
        g_autofree char *translated = NULL;
        const char *reason;
        size_t translated_size;

        return regex_translate(text, size, &translated, &translated_size, &reason) >= 0;
}

static const Format formats[] = {
        { "date-time", SCHEMA_DRAFT_4, SCHEMA_DRAFT_2020_12, format_date_time },
        { "email", SCHEMA_DRAFT_4, SCHEMA_DRAFT_2020_12, format_email },
        { "hostname", SCHEMA_DRAFT_4, SCHEMA_DRAFT_6, format_old_hostname },
        { "hostname", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_hostname },
        { "ipv4", SCHEMA_DRAFT_4, SCHEMA_DRAFT_2020_12, format_ipv4 },
        { "ipv6", SCHEMA_DRAFT_4, SCHEMA_DRAFT_2020_12, format_ipv6 },
        { "uri", SCHEMA_DRAFT_4, SCHEMA_DRAFT_2020_12, format_uri },
        { "uri-reference", SCHEMA_DRAFT_6, SCHEMA_DRAFT_2020_12, format_uri_reference },
        { "uri-template", SCHEMA_DRAFT_6, SCHEMA_DRAFT_2020_12, format_uri_template },
        { "json-pointer", SCHEMA_DRAFT_6, SCHEMA_DRAFT_2020_12, format_json_pointer },
        { "date", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_date },
        { "time", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_time },
        { "idn-email", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_idn_email },
        { "idn-hostname", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_idn_hostname },
        { "iri", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_iri },
        { "iri-reference", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_iri_reference },
        { "regex", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_regex },
        { "relative-json-pointer", SCHEMA_DRAFT_7, SCHEMA_DRAFT_2020_12, format_relative_json_pointer },
        { "duration", SCHEMA_DRAFT_2019_09, SCHEMA_DRAFT_2020_12, format_duration },
        { "uuid", SCHEMA_DRAFT_2019_09, SCHEMA_DRAFT_2020_12, format_uuid },
};

const Format *format_find(const char *name, SchemaDraft draft) {
        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
                if (strcmp(formats[i].name, name) == 0 && draft <= formats[i].since && draft >= formats[i].until)
                        return &formats[i];
        return NULL;
}

bool format_holds(const Format *format, const char *text, size_t size) {
        return format->check(text, size);
}
