/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static void append_check(const Cli *cli, GString *page, Jval check) {
        static const char *const shown[] = { "name", "verdict", NULL };
        g_autofree char *name = view_scalar(jval_member(check, "name"));
        g_autofree char *verdict = view_scalar(jval_member(check, "verdict"));

        style_append(cli, page, style_for_word(verdict), verdict);
        g_string_append_printf(page, "%*s%s\n", MAX(9 - (int) text_width(verdict), 1), "", name);
        view_append(cli, page, check, 9, shown);
}

static bool has_failed(Jval checks) {
        JIter iter = jval_iterate(checks);
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                if (jval_equals_text(jval_member(item, "verdict"), "failed"))
                        return true;

        return false;
}

static int print_report(const Cli *cli, Jval report) {
        static const char *const above[] = { "checks", NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        JIter iter = jval_iterate(jval_member(report, "checks"));
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                append_check(cli, page, item);
        view_append(cli, page, report, 0, above);
        return output_page(cli, page->str);
}

int verb_doctor(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_call_text(cli, "", "Doctor", CLIENT_WAIT_PERSON, &json, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        r = cli_has(cli, OPTION_JSON) ? output_json(json) : print_report(cli, jdoc_root(doc));
        if (r != EXIT_STATUS_OK)
                return r;
        return has_failed(jval_member(jdoc_root(doc), "checks")) ? EXIT_STATUS_FAILURE : EXIT_STATUS_OK;
}
