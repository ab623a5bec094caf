/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/errors.h"

static const char list_types[] = "sssss";

static int grants_list(Cli *cli) {
        static const ListingColumn columns[] = {
                { "id", "ID" },
                { "session", "SESSION" },
                { "plugin", "PLUGIN" },
                { "tool", "TOOL" },
                { "scope", "SCOPE" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = client_call(cli, ".Grants", "List", CLIENT_WAIT_SHORT, &reply, &error, NULL);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, list_types, columns, "No grants: every call that needs approval asks.");
}

static int grants_show(Cli *cli, const char *id) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        int r;

        r = client_call_text(cli, ".Grants", "Describe", CLIENT_WAIT_SHORT, &json, &error, "s", id);
        return r < 0 ? failure_report(cli, r, &error, id) : view_print(cli, json);
}

static int grants_revoke(Cli *cli, const char *id) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r;

        r = client_call(cli, ".Grants", "Revoke", CLIENT_WAIT_SHORT, NULL, &error, "s", id);
        if (r < 0)
                return failure_report(cli, r, &error, id);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say("Revoked. The next such call asks again.");
        return EXIT_STATUS_OK;
}

/* One after the other: one that ended meanwhile is no failure. */
static int grants_revoke_all(Cli *cli) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        unsigned revoked = 0;
        const char *id;
        int r;

        r = client_call(cli, ".Grants", "List", CLIENT_WAIT_SHORT, &reply, &error, NULL);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "(sssss)");
        while (r >= 0 && (r = sd_bus_message_read(reply, "(sssss)", &id, NULL, NULL, NULL, NULL)) > 0) {
                g_auto(sd_bus_error) gone = SD_BUS_ERROR_NULL;

                r = client_call(cli, ".Grants", "Revoke", CLIENT_WAIT_SHORT, NULL, &gone, "s", id);
                if (r >= 0)
                        revoked++;
                else if (sd_bus_error_has_name(&gone, ERROR_NO_SUCH_GRANT))
                        r = 0;
                else
                        return failure_report(cli, r, &gone, id);
        }
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        if (cli_has(cli, OPTION_JSON))
                return output_json("{}");
        note_say(revoked == 1 ? "Revoked 1 grant." : "Revoked %u grants.", revoked);
        return EXIT_STATUS_OK;
}

int verb_grants(Cli *cli, int argc, char **argv) {
        if (argc == 1)
                return grants_list(cli);
        if (argc == 2 && strcmp(argv[1], "revoke") != 0)
                return grants_show(cli, argv[1]);
        if (argc == 3 && strcmp(argv[1], "revoke") == 0)
                return strcmp(argv[2], "all") == 0 ? grants_revoke_all(cli) : grants_revoke(cli, argv[2]);

        return failure_usage(cli, "grants takes nothing, an ID, revoke ID, or revoke all.");
}
