/* SPDX-License-Identifier: MIT */
#include "cli/dev-bundle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

#define LINE_BYTES_MAX 4096u
#define ABOUT_COLUMNS  8

void dev_bundle_done(DevBundle *bundle) {
        g_clear_pointer(&bundle->id, g_free);
}

void dev_say(const Cli *cli, const char *about, const char *format, ...) {
        g_autofree char *text = NULL, *safe = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        safe = sanitize_line(text, LINE_BYTES_MAX, NULL);
        (void) printf("%s%-*s%s %s\n", style_on(cli, STYLE_DIM), ABOUT_COLUMNS, about, style_on(cli, STYLE_PLAIN), safe);
        (void) fflush(stdout);
}

static char *member_text(const char *json, const char *name) {
        g_autoptr(Jdoc) doc = view_parse(json);

        return doc ? g_strdup(jval_text(jval_member(jdoc_root(doc), name))) : NULL;
}

static int plugin_act(Cli *cli, const char *member, const char *id, sd_bus_error *reterr) {
        return client_call(cli, ".Plugins", member, CLIENT_WAIT_PERSON, NULL, reterr, "sa{sv}", id, 0);
}

static void take_out(Cli *cli, DevBundle *bundle) {
        g_auto(sd_bus_error) disable = SD_BUS_ERROR_NULL, uninstall = SD_BUS_ERROR_NULL;

        if (!bundle->id)
                return;
        (void) plugin_act(cli, "Disable", bundle->id, &disable);
        if (plugin_act(cli, "Uninstall", bundle->id, &uninstall) < 0)
                dev_say(cli, "reload", "%s", uninstall.message ? uninstall.message : "it cannot be taken out");
        g_clear_pointer(&bundle->id, g_free);
}

static int put_in(Cli *cli, DevBundle *bundle, sd_bus_error *reterr) {
        g_autofree char *json = NULL, *review = NULL, *token = NULL;
        int r;

        r = client_call_text(cli, ".Plugins", "Install", CLIENT_WAIT_PERSON, &json, reterr, "sa{sv}",
                        bundle->folder, 0);
        if (r < 0)
                return r;
        bundle->id = member_text(json, "id");
        if (!bundle->id)
                return -EBADMSG;
        r = client_call_text(cli, ".Plugins", "Review", CLIENT_WAIT_SHORT, &review, reterr, "sa{sv}",
                        bundle->id, 0);
        if (r < 0)
                return r;
        token = member_text(review, "token");
        if (!token)
                return -EBADMSG;
        r = client_call(cli, ".Plugins", "Trust", CLIENT_WAIT_PERSON, NULL, reterr, "ssa{sv}", bundle->id,
                        token, 0);
        return r < 0 ? r : plugin_act(cli, "Enable", bundle->id, reterr);
}

/* NAME=VALUE for what a tool can't do without, or {}. */
static char *example_arguments(Cli *cli, const char *tool) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(GString) words = g_string_new(NULL);
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval key, item;
        JIter iter;

        if (client_call_text(cli, ".Tools", "Describe", CLIENT_WAIT_SHORT, &json, &error, "sa{sv}", tool, 0) >= 0)
                doc = view_parse(json);
        if (doc) {
                iter = jval_iterate(jval_member(jval_member(jdoc_root(doc), "input_schema"), "required"));
                while (jiter_next(&iter, &key, &item)) {
                        const char *name = jval_text(item);
                        g_autofree char *quoted = name ? failure_quote(name) : NULL;

                        if (quoted)
                                g_string_append_printf(words, " %s=…", quoted);
                }
        }
        return words->len > 0 ? g_string_free(g_steal_pointer(&words), FALSE) : g_strdup("");
}

/* The first word of each row. */
static void show_list(Cli *cli, const char *interface, const char *signature, const char *about) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *row = g_strdup_printf("(%s)", signature);
        g_autoptr(sd_bus_message) reply = NULL;
        int r;

        r = client_call(cli, interface, "List", CLIENT_WAIT_SHORT, &reply, &error, "a{sv}", 0);
        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', row);
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'r', signature)) > 0) {
                g_autofree char *arguments = NULL;
                const char *name = NULL;

                r = sd_bus_message_read(reply, "s", &name);
                if (r >= 0)
                        r = sd_bus_message_skip(reply, signature + 1);
                if (r < 0)
                        break;
                if (strcmp(about, "tool") == 0) {
                        arguments = example_arguments(cli, name);
                        dev_say(cli, about, "%s  (codewhalectl call %s%s)", name, name, arguments);
                } else if (strcmp(about, "command") == 0)
                        dev_say(cli, about, "%s  (codewhalectl run %s)", name, name);
                else
                        dev_say(cli, about, "%s", name);
                r = sd_bus_message_exit_container(reply);
        }
}

static void show_sections(Cli *cli) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        Jval key, item;
        JIter iter;

        if (client_call_text(cli, ".Prompt", "Snapshot", CLIENT_WAIT_SHORT, &json, &error, "a{sv}", 0) < 0)
                return;
        doc = view_parse(json);
        if (!doc)
                return;
        iter = jval_iterate(jval_member(jdoc_root(doc), "sections"));
        while (jiter_next(&iter, &key, &item)) {
                const char *text = jval_text(item), *last = text ? strrchr(text, ' ') : NULL;

                dev_say(cli, "prompt", "%s", last ? last + 1 : text ? text : "?");
        }
}

bool dev_bundle_bring_up(Cli *cli, DevBundle *bundle) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int64_t begin = g_get_monotonic_time();
        int r;

        take_out(cli, bundle);
        r = put_in(cli, bundle, &error);
        if (r < 0) {
                dev_say(cli, "failed", "%s", error.message ? error.message : g_strerror(-r));
                return false;
        }

        dev_say(cli, "active", "after %d ms", (int) ((g_get_monotonic_time() - begin) / 1000));
        show_list(cli, ".Tools", "sss", "tool");
        show_list(cli, ".Commands", "ssss", "command");
        show_list(cli, ".Hooks", "ssst", "listens");
        show_sections(cli);
        return true;
}

static void show_record(const Cli *cli, Jval record) {
        const char *tool = jval_text(jval_member(record, "tool")), *outcome = jval_text(jval_member(record, "outcome")),
                   *result = jval_text(jval_member(record, "result")), *note = jval_text(jval_member(record, "note"));
        uint64_t usec = 0;

        if (!tool)
                return;
        (void) jval_uint64(jval_member(record, "duration_usec"), &usec);
        dev_say(cli, "call", "%s: %s%s%s, %" PRIu64 ".%" PRIu64 " ms%s%s", tool, outcome ? outcome : "?",
                        result ? ", " : "", result ? result : "", usec / 1000, usec % 1000 / 100, note ? ": " : "",
                        note ? note : "");
}

void dev_bundle_show_calls(Cli *cli, DevBundle *bundle) {
        const CallOption options[] = { { "since-usec", 't', .number = bundle->records_usec + 1 }, {} };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Jval));
        g_autoptr(Jdoc) doc = NULL;
        const char *json;
        Jval key, item;
        JIter iter;

        if (client_call_options(cli, ".Decisions", "Query", CLIENT_WAIT_SHORT, NULL, options, &reply, &error) < 0 ||
                        sd_bus_message_read(reply, "s", &json) < 0)
                return;
        doc = view_parse(json);
        if (!doc)
                return;

        /* The newest comes first. */
        iter = jval_iterate(jdoc_root(doc));
        while (jiter_next(&iter, &key, &item))
                g_array_append_val(found, item);
        for (guint i = found->len; i > 0; i--) {
                uint64_t usec = 0;

                item = g_array_index(found, Jval, i - 1);
                (void) jval_uint64(jval_member(item, "time"), &usec);
                bundle->records_usec = MAX(bundle->records_usec, usec);
                show_record(cli, item);
        }
}
