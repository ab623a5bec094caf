/* SPDX-License-Identifier: MIT */
#include "cli/bundle-job.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/source.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static int print_updated(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *name = NULL;
        bool updated = false;
        int r;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, NULL);
        r = output_text(page->str);
        name = view_scalar(jval_member(jdoc_root(doc), "name"));
        (void) jval_boolean(jval_member(jdoc_root(doc), "updated"), &updated);
        if (updated)
                note_say("It is new, and does not run before you trust it. What changed: codewhalectl review --diff %s", name);
        else
                note_say("Nothing changed.");
        return r;
}

int verb_update(Cli *cli, int argc, char **argv) {
        g_autofree char *json = NULL, *what = g_strdup_printf("what is now at the source of %s", argv[1]);
        const CallOption options[] = {
                { "allow-network", 'b', .number = source_ask(cli, what) },
                { "expected-content-hash", 's', .text = cli->options[OPTION_EXPECT] },
                {},
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        (void) argc;

        r = bundle_job_run(cli, "Update", argv[1], options, &json, &error);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);

        return cli_has(cli, OPTION_JSON) ? output_json(json) : print_updated(cli, json);
}
