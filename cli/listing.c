/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/table.h"
#include "common/cleanup.h"
#include "common/jwriter.h"

/* One member: its text, and for a number its JSON as well. */
static int read_member(sd_bus_message *reply, char type, JWriter *writer, char **ret_text) {
        union {
                const char *text;
                uint64_t u64;
                uint32_t u32;
                int boolean;
        } value;
        int r = sd_bus_message_read_basic(reply, type, &value);

        if (r < 0)
                return r;
        if (r == 0)
                return -EBADMSG;

        switch (type) {
        case 's':
        case 'o':
                jwriter_string(writer, value.text);
                *ret_text = g_strdup(value.text);
                return 0;
        case 't':
        case 'u': {
                uint64_t number = type == 't' ? value.u64 : value.u32;

                jwriter_uint(writer, number);
                *ret_text = g_strdup_printf("%" PRIu64, number);
                return 0;
        }
        case 'b':
                jwriter_boolean(writer, value.boolean);
                *ret_text = g_strdup(value.boolean ? "yes" : "no");
                return 0;
        default:
                g_assert_not_reached();
        }
}

static int read_row(sd_bus_message *reply, const char *signature, const ListingColumn *columns, Table *table,
                JWriter *writer) {
        const char *cells[LISTING_COLUMNS_MAX];
        g_auto(GStrv) texts = g_new0(char *, LISTING_COLUMNS_MAX + 1);
        size_t shown = 0;
        int r = 0;

        jwriter_begin_object(writer);
        for (size_t i = 0; r >= 0 && signature[i]; i++) {
                jwriter_key(writer, columns[i].name);
                r = read_member(reply, signature[i], writer, &texts[i]);
                if (r >= 0 && columns[i].show) {
                        g_autofree char *text = g_steal_pointer(&texts[i]);

                        texts[i] = columns[i].show(text);
                }
                if (r >= 0 && columns[i].heading)
                        cells[shown++] = texts[i];
        }
        if (r < 0)
                return r;

        jwriter_end_object(writer);
        table_add(table, cells);
        return sd_bus_message_exit_container(reply);
}

static int read_rows(sd_bus_message *reply, const char *signature, const ListingColumn *columns,
                Table *table, JWriter *writer) {
        g_autofree char *structure = g_strdup_printf("(%s)", signature);
        int r;

        r = sd_bus_message_enter_container(reply, 'a', structure);
        if (r < 0)
                return r;

        jwriter_begin_array(writer);
        while ((r = sd_bus_message_enter_container(reply, 'r', signature)) > 0) {
                r = read_row(reply, signature, columns, table, writer);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        jwriter_end_array(writer);
        return 0;
}

int listing_print(const Cli *cli, sd_bus_message *reply, const char *signature, const ListingColumn *columns,
                const char *empty) {
        const char *headings[LISTING_COLUMNS_MAX + 1] = { NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        g_autoptr(Table) table = NULL;
        g_autofree char *json = NULL;
        g_auto(JWriter) writer = {};
        size_t shown = 0;
        int r;

        assert(strlen(signature) <= LISTING_COLUMNS_MAX);
        for (size_t i = 0; signature[i]; i++)
                if (columns[i].heading)
                        headings[shown++] = columns[i].heading;

        table = table_new(headings);
        jwriter_init(&writer);
        r = read_rows(reply, signature, columns, table, &writer);
        if (r < 0)
                return failure_say("The service answered something else than expected: %s", g_strerror(-r));

        json = jwriter_steal(&writer, NULL);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);
        if (table_rows(table) == 0) {
                note_say("%s", empty);
                return EXIT_STATUS_OK;
        }

        table_render(table, cli, output_columns(), page);
        return output_page(cli, page->str);
}
