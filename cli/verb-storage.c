/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static int storage_list(Cli *cli, char **argv) {
        static const ListingColumn columns[] = { { "key", "KEY" }, { "bytes", "BYTES" } };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = client_call(cli, ".Storage", "List", CLIENT_WAIT_SHORT, &reply, &error, "s", argv[2]);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);

        return listing_print(cli, reply, "st", columns, "It stored nothing.");
}

static int storage_get(Cli *cli, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL, *pretty = NULL;
        g_autoptr(Jdoc) doc = NULL;
        int r;

        r = client_call_text(
                        cli, ".Storage", "Get", CLIENT_WAIT_SHORT, &json, &error, "ss", argv[2], argv[3]);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);
        if (cli_has(cli, OPTION_JSON) || !isatty(STDOUT_FILENO))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;
        pretty = view_json(jdoc_root(doc));
        return output_page(cli, pretty);
}

static int storage_delete(Cli *cli, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        int deleted = false, r;

        r = client_call(cli, ".Storage", "Delete", CLIENT_WAIT_SHORT, &reply, &error, "ss", argv[2],
                        argv[3]);
        if (r >= 0)
                r = sd_bus_message_read(reply, "b", &deleted);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);

        if (cli_has(cli, OPTION_JSON))
                r = output_json(deleted ? "{\"deleted\":true}" : "{\"deleted\":false}");
        else {
                note_say(deleted ? "Deleted." : "There was no such record.");
                r = EXIT_STATUS_OK;
        }
        return r != EXIT_STATUS_OK || deleted ? r : EXIT_STATUS_NOT_FOUND;
}

static int storage_repair(Cli *cli, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *json = NULL;
        uint32_t moved = 0;
        int r;

        r = client_call(cli, ".Storage", "Repair", CLIENT_WAIT_SHORT, &reply, &error, "s", argv[2]);
        if (r >= 0)
                r = sd_bus_message_read(reply, "u", &moved);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);

        json = g_strdup_printf("{\"moved\":%u}", moved);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json);
        if (moved == 0)
                note_say("No record is damaged.");
        else
                note_say("%u damaged records were moved aside; they lie as damaged-... beside the plugin's records.", moved);
        return EXIT_STATUS_OK;
}

static int storage_usage(Cli *cli, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        int r;

        r = client_call_text(cli, ".Storage", "Usage", CLIENT_WAIT_SHORT, &json, &error, "s", argv[2]);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);

        return view_print(cli, json);
}

int verb_storage(Cli *cli, int argc, char **argv) {
        static const struct {
                const char *name;
                int words;
                int (*run)(Cli *cli, char **argv);
        } actions[] = {
                { "list", 3, storage_list },
                { "get", 4, storage_get },
                { "delete", 4, storage_delete },
                { "repair", 3, storage_repair },
                { "usage", 3, storage_usage },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
                if (strcmp(argv[1], actions[i].name) == 0)
                        return argc == actions[i].words
                                               ? actions[i].run(cli, argv)
                                               : failure_usage(cli, "storage %s takes %s.", argv[1],
                                                                 actions[i].words == 3
                                                                                 ? "a plugin"
                                                                                 : "a plugin and a key");

        return failure_usage(cli, "storage does not know \"%s\": list, get, delete, repair or usage.", argv[1]);
}
