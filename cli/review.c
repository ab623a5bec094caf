/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/review.h"
#include "cli/view.h"
#include "common/cleanup.h"

/* The command to trust it, in one line that can be copied. A token is hex digits and a dot; anything else is
 * no token. */
static void append_command(const Cli *cli, GString *page, Jval review, const char *plugin) {
        const char *token = jval_text(jval_member(review, "token"));
        g_autofree char *word = failure_quote(plugin);
        const char *bus = cli_has(cli, OPTION_SYSTEM) ? "--system " : "";

        g_string_append_c(page, '\n');
        if (!token || !*token || strspn(token, "0123456789abcdef.") != strlen(token)) {
                style_append(cli, page, STYLE_WARNING,
                                "It cannot be trusted as it is: there is no token for it.");
                g_string_append_c(page, '\n');
                return;
        }

        style_append(cli, page, STYLE_BOLD, "To trust exactly this, run:");
        g_string_append_printf(page, "\n  codewhalectl %strust %s %s\n", bus, word, token);
        g_string_append(page, "Trusting runs nothing yet; enabling does.\n");
}

static char *review_page(const Cli *cli, Jval review, const char *plugin) {
        static const char *const last[] = { "token", "files", NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        Jval files = jval_member(review, "files");
        g_autofree char *title = g_strdup_printf("Review of %s", plugin);

        view_heading(cli, page, title);
        view_append(cli, page, review, 0, last);
        if (jval_length(files) > 0) {
                view_heading(cli, page, "Files");
                view_append(cli, page, files, 2, NULL);
        }
        append_command(cli, page, review, plugin);
        return g_string_free(g_steal_pointer(&page), FALSE);
}

int review_print(Cli *cli, const char *plugin) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL, *page = NULL;
        g_autoptr(Jdoc) doc = NULL;
        int r;

        r = client_call_text(
                        cli, ".Plugins", "Review", CLIENT_WAIT_PERSON, &json, &error, "sa{sv}", plugin, 0);
        if (r < 0)
                return failure_report(cli, r, &error, plugin);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        page = review_page(cli, jdoc_root(doc), plugin);
        return output_page(cli, page);
}
