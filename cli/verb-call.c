/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/call-arguments.h"
#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/sanitize.h"

/* The tool's description, for the types of KEY=VALUE. Without it values are what they look like. */
static char *describe_tool(Cli *cli, const char *name) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;

        if (client_call_text(cli, ".Tools", "Describe", CLIENT_WAIT_SHORT, &json, &error, "sa{sv}", name,
                            0) < 0)
                return NULL;
        return g_steal_pointer(&json);
}

static int build_arguments(Cli *cli, int argc, char **argv, char **ret) {
        g_autofree char *tool = NULL, *wrong = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval schema = {};

        if (call_arguments_are_pairs(argv + 2, argc - 2))
                tool = describe_tool(cli, argv[1]);
        if (tool && jdoc_parse(tool, strlen(tool), NULL, &doc, NULL) >= 0)
                schema = jval_member(jdoc_root(doc), "input_schema");

        if (call_arguments_build(argv + 2, argc - 2, schema, ret, &wrong) < 0)
                return failure_usage(cli, "%s", wrong);
        return EXIT_STATUS_OK;
}

/* A terminal gets it without anything that could steer it; a pipe gets what the tool said. */
static void print_text(Jval value) {
        size_t size = 0;
        const char *text = jval_string(value, &size);
        g_autofree char *safe = NULL;

        if (!text)
                return;
        if (isatty(STDOUT_FILENO)) {
                safe = sanitize_block_n(text, size, OUTPUT_TEXT_BYTES_MAX, NULL);
                text = safe;
                size = strlen(safe);
        }
        (void) fwrite(text, 1, size, stdout);
        if (size > 0 && text[size - 1] != '\n')
                (void) fputc('\n', stdout);
}

static int print_result(Jval result) {
        JIter iter = jval_iterate(jval_member(result, "content"));
        Jval structured = jval_member(result, "structured");
        Jval context = jval_member(result, "context");
        Jval key, item;

        if (jval_length(jval_member(result, "content")) == 0 && !jval_is(structured, J_ABSENT)) {
                g_autofree char *json = view_json(structured);

                return output_text(json);
        }

        while (jiter_next(&iter, &key, &item))
                print_text(jval_member(item, "text"));
        if (!jval_is(context, J_ABSENT)) {
                g_autofree char *line = view_scalar(context);

                note_say("Note from a hook: %s", line);
        }
        return output_text("");
}

static int print_answer(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        bool is_error = false;
        int r;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        r = cli_has(cli, OPTION_JSON) ? output_json(json) : print_result(jdoc_root(doc));
        if (jval_boolean(jval_member(jdoc_root(doc), "is_error"), &is_error) >= 0 && is_error)
                return EXIT_STATUS_PLUGIN_FAILED;
        return r;
}

int verb_call(Cli *cli, int argc, char **argv) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_auto(RequestResult) result = {};
        g_autofree char *arguments = NULL;
        int r;

        r = build_arguments(cli, argc, argv, &arguments);
        if (r != EXIT_STATUS_OK)
                return r;

        RequestCall call = { ".Tools", argv[1], arguments };

        r = request_run(cli, &call, &result, &error);
        if (r < 0)
                r = failure_report(cli, r, &error, argv[1]);
        else if (result.outcome != REQUEST_ANSWERED)
                r = response_report(cli, argv[1], &result);
        else
                return print_answer(cli, result.result);

        if (sd_bus_error_has_name(&error, ERROR_INVALID_ARGUMENTS) ||
                        sd_bus_error_has_name(&result.error, ERROR_INVALID_ARGUMENTS))
                note_say("What it takes: codewhalectl tools %s", argv[1]);
        return r;
}
