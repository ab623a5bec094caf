/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/failure.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

static int print_part(Jval value) {
        size_t size = 0;
        const char *text = jval_string(value, &size);
        g_autofree char *safe = NULL;

        if (!text)
                return EXIT_STATUS_OK;

        safe = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);
        return output_text(safe);
}

static int print_answer(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        bool failed;
        Jval root;
        int r;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        root = jdoc_root(doc);
        failed = jval_equals_text(jval_member(root, "kind"), "error");
        if (cli_has(cli, OPTION_JSON))
                r = output_json(json);
        else {
                r = print_part(jval_member(root, "text"));
                if (!jval_is(jval_member(root, "prompt"), J_ABSENT)) {
                        note_say("The command wants this given to the model:");
                        r = print_part(jval_member(root, "prompt"));
                }
        }

        return failed ? EXIT_STATUS_PLUGIN_FAILED : r;
}

int verb_run_command(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(RequestResult) result = {};
        g_autofree char *text = argc > 2 ? g_strjoinv(" ", argv + 2) : g_strdup("");
        RequestCall call = { ".Commands", argv[1], text };
        int r;

        r = request_run(cli, &call, &result, &error);
        if (r < 0)
                return failure_report(cli, r, &error, argv[1]);
        if (result.outcome != REQUEST_ANSWERED)
                return response_report(cli, argv[1], &result);

        return print_answer(cli, result.result);
}
