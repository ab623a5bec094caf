/* SPDX-License-Identifier: MIT */
#include "cli/plugin-change.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "common/cleanup.h"

static int print_after(Cli *cli, const char *plugin) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;

        if (client_call_text(cli, ".Plugins", "Describe", CLIENT_WAIT_SHORT, &json, &error, "s", plugin) < 0)
                return output_json("{}");
        return output_json(json);
}

int plugin_change(Cli *cli, const char *member, const char *plugin, const char *said) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = client_call(cli, ".Plugins", member, CLIENT_WAIT_PERSON, NULL, &error, "sa{sv}", plugin, 0);
        if (r < 0)
                return failure_report(cli, r, &error, plugin);

        if (cli_has(cli, OPTION_JSON))
                return print_after(cli, plugin);
        if (said) {
                g_autoptr(GString) text = g_string_new(said);

                (void) g_string_replace(text, "{}", plugin, 0);
                note_say("%s", text->str);
        }
        return EXIT_STATUS_OK;
}
