/* SPDX-License-Identifier: MIT */
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/listing.h"
#include "cli/memory-file.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

static int print_skill(const Cli *cli, const char *json) {
        static const char *const below[] = { "instructions", NULL };
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *safe = NULL;
        g_autoptr(Jdoc) doc = NULL;
        const char *text;
        size_t size = 0;

        if (cli_has(cli, OPTION_JSON))
                return output_json(json);

        doc = view_parse(json);
        if (!doc)
                return EXIT_STATUS_FAILURE;

        view_append(cli, page, jdoc_root(doc), 0, below);
        view_heading(cli, page, "Instructions");
        text = jval_string(jval_member(jdoc_root(doc), "instructions"), &size);
        safe = sanitize_block_n(text ?: "", size, OUTPUT_TEXT_BYTES_MAX, NULL);
        g_string_append(page, safe);
        return output_page(cli, page->str);
}

/* In a memory file, since a skill may be larger than a message. */
static int show_skill(Cli *cli, const char *name, const CallOption *options) {
        const char *words[] = { name, NULL };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *json = NULL;
        int fd, r;

        r = client_call_options(cli, ".Skills", "LoadFd", CLIENT_WAIT_SHORT, words, options, &reply, &error);
        if (r >= 0)
                r = sd_bus_message_read(reply, "h", &fd);
        if (r >= 0)
                r = memory_file_read(fd, &json);
        return r < 0 ? failure_report(cli, r, &error, name) : print_skill(cli, json);
}

int verb_skills(Cli *cli, int argc, char **argv) {
        static const ListingColumn columns[] = {
                { "name", "NAME" },
                { "plugin", NULL },
                { "description", "DESCRIPTION" },
                { "argument_hint", NULL },
                { "model", "MODEL" },
                { "user", "USER" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *session = NULL;
        int r;

        r = client_open_session(cli, &session, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        const CallOption options[] = { { "session", 'o', .text = session }, {} };

        if (argc > 1)
                return show_skill(cli, argv[1], options);
        r = client_call_options(cli, ".Skills", "List", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        if (r < 0)
                return failure_report(cli, r, &error, NULL);

        return listing_print(cli, reply, "ssssbb", columns,
                        "No skills. They come with plugins that are active: codewhalectl list");
}
