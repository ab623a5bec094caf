/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

static int read_text(const char *path, char **ret) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        gsize size;

        if (!g_file_get_contents(path, &text, &size, &error))
                return failure_say("%s", error->message);
        if (strlen(text) != size || !g_utf8_validate(text, (gssize) size, NULL))
                return failure_say("A schema and an instance must be UTF-8 without NUL.");

        *ret = g_steal_pointer(&text);
        return EXIT_STATUS_OK;
}

static int show_verdict(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        bool schema_ok = false, valid = true;
        g_autofree char *reason = NULL;
        Jval root;

        if (!doc)
                return EXIT_STATUS_FAILURE;
        root = jdoc_root(doc);
        (void) jval_boolean(jval_member(root, "schema_ok"), &schema_ok);
        (void) jval_boolean(jval_member(root, "valid"), &valid);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json) != EXIT_STATUS_OK ? EXIT_STATUS_FAILURE
                                                           : schema_ok && valid ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;

        reason = view_scalar(jval_member(root, "reason"));
        if (!schema_ok)
                printf("The schema can't be used: %s\n", reason);
        else if (!valid)
                printf("The schema is fine; the instance does not fit: %s\n", reason);
        else
                puts(jval_is(jval_member(root, "valid"), J_ABSENT) ? "The schema is fine." : "The instance fits the schema.");
        return schema_ok && valid ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;
}

int verb_schema(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *schema = NULL, *instance = NULL, *json = NULL;
        int r;

        if (strcmp(argv[1], "check") != 0)
                return failure_say("The one thing to do with a schema is: codewhalectl schema check FILE [INSTANCE]");
        r = read_text(argv[2], &schema);
        if (r == EXIT_STATUS_OK && argc > 3)
                r = read_text(argv[3], &instance);
        if (r != EXIT_STATUS_OK)
                return r;

        /* "" says that there is none; an empty file is one that is no JSON. */
        r = client_call_text(cli, ".Tools", "CheckSchema", CLIENT_WAIT_SHORT, &json, &error, "ss", schema,
                             !instance ? "" : instance[0] ? instance : " ");
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);
        return show_verdict(cli, json);
}
