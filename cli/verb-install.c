/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/bundle-job.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/review.h"
#include "cli/source.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static int print_installed(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *name = NULL;
        int r;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, NULL);
        r = output_text(page->str);
        name = view_scalar(jval_member(jdoc_root(doc), "name"));
        note_say("Installed, disabled and not trusted. Next, look at what it asks for: codewhalectl review "
                 "%s",
                        name);
        return r;
}

static int print_preview(const Cli *cli, const char *json, const char *source) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autofree char *page = NULL;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        page = review_preview_page(cli, jdoc_root(doc), source);
        return output_page(cli, page);
}

int verb_install(Cli *cli, int argc, char **argv) {
        g_autofree char *source = source_resolve(argv[1]), *json = NULL;
        bool preview = cli_has(cli, OPTION_PREVIEW);
        const CallOption options[] = {
                { "allow-network", 'b', .number = source_may_fetch(cli, source) },
                { "expected-content-hash", 's', .text = preview ? NULL : cli->options[OPTION_EXPECT] },
                {},
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        (void) argc;

        r = bundle_job_run(cli, preview ? "Preview" : "Install", source, options, &json, &error);
        if (r < 0)
                return failure_report(cli, r, &error, source);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        return preview ? print_preview(cli, json, source) : print_installed(cli, json);
}
