/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

/* The block itself on standard output, so that it can be piped on. */
static int print_snapshot(const Cli *cli, const char *json) {
        g_autofree char *safe = NULL;
        g_autoptr(Jdoc) doc = NULL;
        const char *text;
        size_t size = 0;

        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        text = jval_string(jval_member(jdoc_root(doc), "text"), &size);
        if (size == 0) {
                note_say("No sections. They come with plugins that are active: codewhalectl list");
                return EXIT_STATUS_OK;
        }

        safe = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);
        return output_page(cli, safe);
}

int verb_prompt(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *session = NULL, *cwd = g_get_current_dir();
        const char *json = NULL;
        int r;

        (void) argc;
        (void) argv;

        r = client_open_session(cli, &session, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        const CallOption options[] = {
                { "session", 'o', .text = session },
                { "model", 's', .text = cli->options[OPTION_MODEL] },
                { "cwd", 's', .text = g_utf8_validate(cwd, -1, NULL) ? cwd : NULL },
                {},
        };

        r = client_call_options(
                        cli, ".Prompt", "Snapshot", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return print_snapshot(cli, json);
}
