/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static void append_diagnostics(const Cli *cli, GString *page, Jval diagnostics) {
        static const char *const headings[] = { "LEVEL", "CODE", "PATH", "MESSAGE", NULL };
        g_autoptr(Table) table = table_new(headings);
        JIter iter = jval_iterate(diagnostics);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *level = view_scalar(jval_member(item, "level"));
                g_autofree char *code = view_scalar(jval_member(item, "code"));
                g_autofree char *path = view_scalar(jval_member(item, "path"));
                g_autofree char *message = view_scalar(jval_member(item, "message"));
                const char *cells[] = { level, code, path, message };

                table_add(table, cells);
        }

        if (table_rows(table) == 0)
                return;
        g_string_append_c(page, '\n');
        table_render(table, cli, 0, page);
}

int verb_validate(Cli *cli, int argc, char **argv) {
        static const char *const elsewhere[] = { "diagnostics", NULL };
        g_autofree char *path = g_canonicalize_filename(argc > 1 ? argv[1] : ".", NULL);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        bool valid = false;
        int r;

        r = client_call_text(cli, ".Plugins", "Validate", CLIENT_WAIT_PERSON, &json, &error, "s", path);
        if (r < 0)
                return failure_report(cli, r, &error, path);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;
        if (jval_boolean(jval_member(jdoc_root(doc), "valid"), &valid) < 0)
                return failure_say("The service did not say whether the folder is valid.");

        if (cli_has(cli, OPTION_JSON))
                r = output_json(json);
        else {
                view_append(cli, page, jdoc_root(doc), 0, elsewhere);
                append_diagnostics(cli, page, jval_member(jdoc_root(doc), "diagnostics"));
                r = output_page(cli, page->str);
        }

        return r != EXIT_STATUS_OK ? r : valid ? EXIT_STATUS_OK : EXIT_STATUS_WRONG_STATE;
}
