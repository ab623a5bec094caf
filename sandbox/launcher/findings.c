/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/launcher/findings.h"

static void put(Findings *findings, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Findings *findings, const char *format, ...) {
        size_t room = sizeof(findings->text) - findings->size;
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = vsnprintf(findings->text + findings->size, room, format, arguments);
        va_end(arguments);

        if (n < 0 || (size_t) n >= room)
                findings->full = true;
        else
                findings->size += (size_t) n;
}

/* Details quote paths and names only: whatever is not plain ASCII becomes a question mark. */
static void put_string(Findings *findings, const char *text) {
        put(findings, "\"");
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        put(findings, "\\%c", *text);
                else
                        put(findings, "%c", *text >= 0x20 && *text < 0x7f ? *text : '?');
        }
        put(findings, "\"");
}

void findings_begin(Findings *findings) {
        findings->size = findings->n_checks = 0;
        findings->refused = findings->full = false;
        put(findings, "{\"jsonrpc\":\"2.0\",\"method\":\"launcher/"
                      "report\",\"params\":{\"version\":1,\"checks\":[");
}

void findings_add(Findings *findings, const char *name, bool required, bool held, const char *format, ...) {
        char detail[DETAIL_BYTES_MAX];
        va_list arguments;

        va_start(arguments, format);
        (void) vsnprintf(detail, sizeof(detail), format, arguments);
        va_end(arguments);

        put(findings, "%s{\"name\":\"%s\",\"held\":%s,\"required\":%s,\"detail\":",
                        findings->n_checks > 0 ? "," : "", name, held ? "true" : "false",
                        required ? "true" : "false");
        put_string(findings, detail);
        put(findings, "}");
        findings->n_checks++;
        findings->refused = findings->refused || (required && !held);
}

static void put_limit(Findings *findings, const char *name, uint64_t limit) {
        if (limit == UINT64_MAX)
                put(findings, "\"%s\":null", name);
        else
                put(findings, "\"%s\":%" PRIu64, name, limit);
}

void findings_end(Findings *findings, const FindingsLimits *limits) {
        put(findings, "],\"limits\":{");
        put_limit(findings, "data", limits->data_bytes);
        put(findings, ",");
        put_limit(findings, "files", limits->files);
        put(findings, "},\"landlock\":%u,\"took_usec\":%" PRIu64 "}}", limits->landlock, limits->took_usec);
}
