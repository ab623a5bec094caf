/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/call-arguments.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/policy-view.h"
#include "cli/session-word.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"

#define PERMISSIONS_NAME "permissions.toml"
#define CONFIG_NAME      "config.toml"

/* ---- the session that is looked at ---- */

/* Another's by --session, or one of our own when an option asks for that. A new string; NULL for none. */
static int find_session(Cli *cli, char **ret, sd_bus_error *reterr) {
        const char *word = cli->options[OPTION_SESSION];

        if (!word)
                return cli_has(cli, OPTION_WORKSPACE) ? client_open_session(cli, ret, reterr) : 0;

        *ret = session_word_to_path(word);
        return 0;
}

/* ---- show ---- */

static int show(Cli *cli) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *session = NULL;
        const char *json;
        int r;

        r = find_session(cli, &session, &error);
        if (r >= 0) {
                const CallOption options[] = { { "session", 'o', .text = session }, {} };

                r = client_call_options(cli, ".Policy", "Show", CLIENT_WAIT_SHORT, NULL, options, &reply, &error);
        }
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, session);

        return cli_has(cli, OPTION_JSON) ? output_json(json) : policy_view_show(cli, json);
}

/* ---- check ---- */

static char *user_file(const char *name) {
        const char *home = g_getenv("CODEWHALE_HOME");

        return home && *home != '\0' ? g_build_filename(home, name, NULL)
                                     : g_build_filename(g_get_home_dir(), ".codewhale", name, NULL);
}

static bool is_same_file(const char *a, const char *b) {
        struct stat x, y;

        return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What kind of file it is, by its name. */
static const char *kind_of(const char *path) {
        g_autofree char *name = g_path_get_basename(path);

        if (strcmp(name, "law.toml") == 0)
                return "law";
        /* A workspace has a file of that name too, which says quite other things. */
        if (strcmp(name, CONFIG_NAME) == 0) {
                g_autofree char *ours = user_file(CONFIG_NAME);

                return is_same_file(path, ours) ? "config" : "project";
        }
        return g_str_has_prefix(path, "/etc/") ? "administrator" : "permissions";
}

static int read_file(const char *path, char **ret) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        gsize size;

        if (!g_file_get_contents(strcmp(path, "-") == 0 ? "/dev/stdin" : path, &text, &size, &error))
                return failure_say("%s", error->message);
        if (strlen(text) != size || !g_utf8_validate(text, (gssize) size, NULL))
                return failure_say("%s is no UTF-8 text.", path);

        *ret = g_steal_pointer(&text);
        return EXIT_STATUS_OK;
}

static int check_file(Cli *cli, const char *path) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        const CallOption options[] = { { "kind", 's', .text = cli->options[OPTION_KIND] ?: kind_of(path) }, {} };
        const char *words[] = { NULL, NULL };
        const char *json;
        int r;

        r = read_file(path, &text);
        if (r != EXIT_STATUS_OK)
                return r;
        words[0] = text;
        r = client_call_options(cli, ".Policy", "Check", CLIENT_WAIT_SHORT, words, options, &reply, &error);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, path);

        return policy_view_check(cli, path, json);
}

/* Without a name it is the files of the user that are there; the first mistake tells how it ends. */
static int check(Cli *cli, const char *word) {
        g_autofree char *permissions = user_file(PERMISSIONS_NAME), *config = user_file(CONFIG_NAME);
        const char *const paths[] = { permissions, config };
        int worst = EXIT_STATUS_OK;
        bool found = false;

        if (word || cli->options[OPTION_KIND])
                return check_file(cli, word ?: permissions);

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                int r = EXIT_STATUS_OK;

                if (access(paths[i], F_OK) < 0)
                        continue;
                found = true;
                r = check_file(cli, paths[i]);
                worst = worst == EXIT_STATUS_OK ? r : worst;
        }
        return found ? worst : check_file(cli, permissions);
}

/* ---- explain ---- */

/* The schema of a plugin's tool, for the types of KEY=VALUE; a core tool has none here. */
static char *describe_tool(Cli *cli, const char *name) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;

        if (client_call_text(cli, ".Tools", "Describe", CLIENT_WAIT_SHORT, &json, &error, "sa{sv}", name, 0) < 0)
                return NULL;
        return g_steal_pointer(&json);
}

static int build_arguments(Cli *cli, const char *tool, int n, char **words, char **ret) {
        g_autofree char *described = call_arguments_are_pairs(words, n) ? describe_tool(cli, tool) : NULL, *wrong = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval schema = {};

        if (described && jdoc_parse(described, strlen(described), NULL, &doc, NULL) >= 0)
                schema = jval_member(jdoc_root(doc), "input_schema");
        if (call_arguments_build(words, n, schema, ret, &wrong) < 0)
                return failure_usage(cli, "%s", wrong);
        return EXIT_STATUS_OK;
}

static int explain(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *session = NULL, *arguments = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        const char *json;
        int r;

        if (argc < 3)
                return failure_usage(cli, "policy explain needs more: policy explain TOOL [JSON|@FILE|-|KEY=VALUE...].");
        r = build_arguments(cli, argv[2], argc - 3, argv + 3, &arguments);
        if (r != EXIT_STATUS_OK)
                return r;

        r = find_session(cli, &session, &error);
        if (r >= 0) {
                const char *words[] = { argv[2], arguments, NULL };
                const CallOption options[] = {
                        { "session", 'o', .text = session },
                        { "from", 's', .text = cli->options[OPTION_FROM] },
                        { "mode", 's', .text = cli->options[OPTION_MODE] },
                        { "posture", 's', .text = cli->options[OPTION_POSTURE] },
                        {},
                };

                r = client_call_options(cli, ".Policy", "Explain", CLIENT_WAIT_SHORT, words, options, &reply, &error);
        }
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &json);
        if (r < 0)
                return failure_report(cli, r, &error, argv[2]);

        return cli_has(cli, OPTION_JSON) ? output_json(json) : policy_view_explain(cli, json);
}

int verb_policy(Cli *cli, int argc, char **argv) {
        if (strcmp(argv[1], "show") == 0 && argc == 2)
                return show(cli);
        if (strcmp(argv[1], "check") == 0 && argc <= 3)
                return check(cli, argv[2]);
        if (strcmp(argv[1], "explain") == 0)
                return explain(cli, argc, argv);
        return failure_usage(cli, "It is: policy show, policy check [FILE], or policy explain TOOL [ARGUMENTS].");
}
