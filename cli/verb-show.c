/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

#define DIAGNOSTICS_SHOWN 20

/* The newest last, where a person reads on. They are many lines each, and --json and the journal have the others. */
static void append_diagnostics(const Cli *cli, GString *page, Jval diagnostics) {
        size_t n = jval_length(diagnostics), left_out = n > DIAGNOSTICS_SHOWN ? n - DIAGNOSTICS_SHOWN : 0, at = 0;
        JIter iter = jval_iterate(diagnostics);
        Jval key, item;

        if (n == 0)
                return;

        view_heading(cli, page, "Host diagnostics");
        if (left_out > 0)
                g_string_append_printf(page, "  (%zu older ones: --json)\n", left_out);
        while (jiter_next(&iter, &key, &item))
                if (at++ >= left_out) {
                        g_autofree char *text = view_scalar(item);

                        g_string_append_printf(page, "  %s\n", text);
                }
}

int verb_show(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        static const char *const host_apart[] = { "host", NULL }, *const told_below[] = { "diagnostics", NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval host;
        int r;

        (void) argc;

        r = client_call_text(cli, ".Plugins", "Describe", CLIENT_WAIT_SHORT, &json, &error, "s", argv[1]);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, host_apart);
        host = jval_member(jdoc_root(doc), "host");
        if (jval_is(host, J_OBJECT)) {
                view_heading(cli, page, "Host");
                view_append(cli, page, host, 2, told_below);
                append_diagnostics(cli, page, jval_member(host, "diagnostics"));
        }
        return output_page(cli, page->str);
}
