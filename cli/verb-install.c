/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

/* The service may stand in another directory, so that paths go to it whole. Anything with a scheme goes as
 * it is. */
static char *source_resolve(const char *word) {
        if (g_str_has_prefix(word, "path:"))
                return g_canonicalize_filename(word + strlen("path:"), NULL);
        return strstr(word, "://") || g_str_has_prefix(word, "github:")
                               ? g_strdup(word)
                               : g_canonicalize_filename(word, NULL);
}

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

int verb_install(Cli *cli, int argc, char **argv) {
        const CallOption options[] = {
                { "expected-content-hash", 's', .text = cli->options[OPTION_EXPECT] },
                {},
        };
        g_autofree char *source = source_resolve(argv[1]);
        const char *words[] = { source, NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        const char *json = NULL;
        int r;

        (void) argc;

        r = client_call_options(
                        cli, ".Plugins", "Install", CLIENT_WAIT_PERSON, words, options, &reply, &error);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, source);

        return cli_has(cli, OPTION_JSON) ? output_json(json) : print_installed(cli, json);
}
