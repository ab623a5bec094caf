/* SPDX-License-Identifier: MIT */

/* What each interface does, by a real service on a real bus. */

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "../service/fixture.h"
#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "served.h"

static Served served;

/* ---- small helpers ---- */

static char *text_of(sd_bus *client, const char *path, const char *interface, const char *member, const char *types, ...) {
        g_autoptr(sd_bus_message) m = NULL, reply = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        va_list arguments;
        const char *text;

        g_assert_cmpint(sd_bus_message_new_method_call(client, &m, SERVICE, path, interface, member), >=, 0);
        va_start(arguments, types);
        if (types)
                g_assert_cmpint(sd_bus_message_appendv(m, types, arguments), >=, 0);
        va_end(arguments);
        if (sd_bus_call(client, m, 0, &error, &reply) < 0)
                g_error("%s.%s: %s: %s", interface, member, error.name, error.message);
        g_assert_cmpint(sd_bus_message_read_basic(reply, sd_bus_message_has_signature(reply, "o") ? 'o' : 's', &text), >, 0);
        return g_strdup(text);
}

static void act(sd_bus *client, const char *path, const char *interface, const char *member, const char *types, ...) {
        g_autoptr(sd_bus_message) m = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        va_list arguments;

        g_assert_cmpint(sd_bus_message_new_method_call(client, &m, SERVICE, path, interface, member), >=, 0);
        va_start(arguments, types);
        if (types)
                g_assert_cmpint(sd_bus_message_appendv(m, types, arguments), >=, 0);
        va_end(arguments);
        if (sd_bus_call(client, m, 0, &error, NULL) < 0)
                g_error("%s.%s: %s: %s", interface, member, error.name, error.message);
}

#define PLUGINS SERVICE ".Plugins"
#define assert_error(client, expected, ...)                                                             \
        do {                                                                                            \
                g_autofree char *got = call_error((client), SERVICE, __VA_ARGS__);                      \
                g_assert_cmpstr(got, ==, (expected));                                                   \
        } while (0)

static char *property(sd_bus *client, const char *path, const char *interface, const char *name) {
        char *text = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        if (sd_bus_get_property_string(client, SERVICE, path, interface, name, &error, &text) < 0)
                g_error("%s: %s", name, error.message);
        return text;
}

static char *member_text(const char *json, const char *name) {
        g_autoptr(Jdoc) doc = NULL;

        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        return g_strdup(jval_text(jval_member(jdoc_root(doc), name)));
}

/* Signals that a client saw, as "member first-argument" (paths and texts only). */
static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        const char *text = "", *contents;
        char type = 0;

        (void) reterr;
        if (sd_bus_message_peek_type(m, &type, &contents) > 0 && (type == 's' || type == 'o'))
                g_assert_cmpint(sd_bus_message_read_basic(m, type, &text), >, 0);
        g_ptr_array_add(userdata, g_strdup_printf("%s %s", sd_bus_message_get_member(m), text));
        return 0;
}

static GPtrArray *watch(sd_bus *client) {
        GPtrArray *seen = g_ptr_array_new_with_free_func(g_free);

        g_assert_cmpint(sd_bus_add_match(client, NULL, "type='signal',sender='" SERVICE "'", on_signal, seen), >=, 0);
        return seen;
}

static bool has_seen(const GPtrArray *seen, const char *line) {
        for (size_t i = 0; i < seen->len; i++)
                if (strcmp(g_ptr_array_index(seen, i), line) == 0)
                        return true;

        return false;
}

static void wait_to_see(sd_bus *client, const GPtrArray *seen, const char *line) {
        while (!has_seen(seen, line)) {
                int r = sd_bus_process(client, NULL);

                g_assert_cmpint(r, >=, 0);
                if (r > 0)
                        continue;
                r = sd_bus_wait(client, 60000000);
                if (r <= 0)
                        g_error("%s was not seen", line);
        }
}

/* ---- bundles ---- */

static void test_validate(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        g_autofree char *empty = fixture_new_folder(), *broken = fixture_new_folder();
        g_autofree char *good = text_of(client, ROOT, PLUGINS, "Validate", "s", served.source);
        g_autofree char *name = member_text(good, "name"), *hash = member_text(good, "content_hash");
        g_autofree char *bad = NULL, *none = NULL;

        g_assert_nonnull(strstr(good, "\"valid\":true"));
        g_assert_cmpstr(name, ==, "counter");
        g_assert_cmpuint(strlen(hash), ==, 64);

        fixture_write(broken, "plugin.json", "{\"name\":", -1);
        bad = text_of(client, ROOT, PLUGINS, "Validate", "s", broken);
        g_assert_nonnull(strstr(bad, "\"valid\":false"));
        g_assert_nonnull(strstr(bad, "\"level\":\"error\""));
        none = text_of(client, ROOT, PLUGINS, "Validate", "s", empty);
        g_assert_nonnull(strstr(none, "\"valid\":false"));

        assert_error(client, ERROR_INVALID_ARGUMENTS, ROOT, PLUGINS, "Validate", "s", "relative");
        assert_error(client, ERROR_INVALID_ARGUMENTS, ROOT, PLUGINS, "Validate", "s", "/does/not/exist");
        fixture_remove(g_steal_pointer(&empty));
        fixture_remove(g_steal_pointer(&broken));
}

/* From a folder on disk to removed again, as another program sees it. */
static void test_life_of_a_bundle(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        g_autoptr(GPtrArray) seen = watch(client);
        g_autofree char *installed = NULL, *id = NULL, *path = NULL, *review = NULL, *token = NULL, *state = NULL;
        g_autofree char *added = NULL, *changed = NULL, *trust = NULL, *again = NULL;

        installed = text_of(client, ROOT, PLUGINS, "Install", "sa{sv}", served.source, 0);
        id = member_text(installed, "id");
        g_assert_cmpint(sd_bus_path_encode(ROOT "/plugin", id, &path), >=, 0);
        added = g_strconcat("InterfacesAdded ", path, NULL);
        wait_to_see(client, seen, added);
        assert_error(client, ERROR_ALREADY_INSTALLED, ROOT, PLUGINS, "Install", "sa{sv}", served.source, 0);
        state = property(client, path, SERVICE ".Plugin", "State");
        g_assert_cmpstr(state, ==, "disabled");

        assert_error(client, ERROR_NOT_TRUSTED, ROOT, PLUGINS, "Enable", "sa{sv}", id, 0);
        assert_error(client, ERROR_INVALID_TOKEN, ROOT, PLUGINS, "Trust", "ssa{sv}", id, "yes", 0);
        review = text_of(client, ROOT, PLUGINS, "Review", "sa{sv}", "counter", 1, "diff", "b", 1);
        token = member_text(review, "token");
        g_ptr_array_set_size(seen, 0);
        act(client, ROOT, PLUGINS, "Trust", "ssa{sv}", "counter", token, 0);
        changed = g_strconcat("Changed ", id, NULL);
        wait_to_see(client, seen, changed);
        wait_to_see(client, seen, "PropertiesChanged " SERVICE ".Plugin");
        trust = property(client, path, SERVICE ".Plugin", "Trust");
        g_assert_cmpstr(trust, ==, "trusted");

        act(client, ROOT, PLUGINS, "Revoke", "sa{sv}", id, 0);
        again = property(client, path, SERVICE ".Plugin", "Trust");
        g_assert_cmpstr(again, ==, "not-reviewed");
        g_ptr_array_set_size(seen, 0);
        act(client, ROOT, PLUGINS, "Uninstall", "sa{sv}", id, 0);
        added = (g_free(added), g_strconcat("InterfacesRemoved ", path, NULL));
        wait_to_see(client, seen, added);
        assert_error(client, ERROR_NO_SUCH_PLUGIN, ROOT, PLUGINS, "Describe", "s", id);
        assert_error(client, ERROR_NO_SUCH_PLUGIN, path, SERVICE ".Plugin", "Describe", NULL);
}

static void test_workspace(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        ServedCounts before = served_count(other);

        {
                g_autoptr(sd_bus) client = private_bus_open(served.bus);
                g_autofree char *workspace = fixture_new_folder();
                g_autoptr(sd_bus_message) reply = NULL;

                fixture_write(workspace, ".codewhale/plugins/here/plugin.json",
                                "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"here\"}", -1);
                g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, PLUGINS, "List", NULL, &reply, "a{sv}", 1, "workspace",
                                                "s", workspace), >=, 0);
                g_assert_cmpint(sd_bus_message_enter_container(reply, 'a', "(sosss)"), >, 0);
                g_assert_cmpint(sd_bus_message_skip(reply, "(sosss)"), >, 0);
                g_assert_cmpuint(served_count(client).workspaces, ==, 1);
                assert_error(client, ERROR_INVALID_OPTION, ROOT, PLUGINS, "List", "a{sv}", 1, "workspace", "s", "not/absolute");
                for (unsigned i = 1; i < 8; i++) {
                        g_autofree char *more = g_strdup_printf("/nowhere/%u", i);

                        act(client, ROOT, PLUGINS, "List", "a{sv}", 1, "workspace", "s", more);
                }
                assert_error(client, ERROR_LIMIT_EXCEEDED, ROOT, PLUGINS, "List", "a{sv}", 1, "workspace", "s", "/nowhere/9");
                act(client, ROOT, PLUGINS, "List", "a{sv}", 1, "workspace", "s", "/nowhere/1");
                fixture_remove(g_steal_pointer(&workspace));
        }
        g_assert_cmpuint(served_wait_for_callers(other, before.callers).workspaces, ==, 0);
}

/* ---- sessions ---- */

static void test_sessions(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), other = private_bus_open(served.bus);
        g_autoptr(GPtrArray) seen = watch(other);
        g_autofree char *path = NULL, *opened = NULL, *closed = NULL, *owner = NULL, *mode = NULL, *posture = NULL, *raised = NULL;
        const char *name;

        path = text_of(client, ROOT, SERVICE ".Sessions", "Open", "a{sv}", 2, "label", "s", "mine", "workspace", "s", "/usr");
        opened = g_strconcat("Opened ", path, NULL);
        closed = g_strconcat("Closed ", path, NULL);
        wait_to_see(other, seen, opened);
        owner = property(other, path, SERVICE ".Session", "Owner");
        g_assert_cmpint(sd_bus_get_unique_name(client, &name), >=, 0);
        g_assert_cmpstr(owner, ==, name);

        act(client, path, SERVICE ".Session", "SetMode", "s", "plan");
        wait_to_see(other, seen, "PropertiesChanged " SERVICE ".Session");
        mode = property(other, path, SERVICE ".Session", "Mode");
        g_assert_cmpstr(mode, ==, "plan");
        act(client, path, SERVICE ".Session", "SetPosture", "s", "never");
        posture = property(other, path, SERVICE ".Session", "Posture");
        g_assert_cmpstr(posture, ==, "never");
        /* [trust] confirm = "token" takes the token of a review, and a raise has none: a person is asked, and nobody is there. */
        assert_error(client, ERROR_NO_APPROVER, path, SERVICE ".Session", "SetPosture", "s", "full-access");
        raised = property(other, path, SERVICE ".Session", "Posture");
        g_assert_cmpstr(raised, ==, "never");

        /* Another connection looks, and changes nothing. */
        assert_error(other, ERROR_ACCESS_DENIED, path, SERVICE ".Session", "SetMode", "s", "agent");
        assert_error(other, ERROR_ACCESS_DENIED, path, SERVICE ".Session", "Close", NULL);
        assert_error(other, ERROR_NO_SUCH_SESSION, ROOT, SERVICE ".Tools", "List", "a{sv}", 1, "session", "o", path);
        assert_error(other, ERROR_NO_SUCH_SESSION, ROOT, SERVICE ".Prompt", "Snapshot", "a{sv}", 1, "session", "o", path);
        assert_error(other, ERROR_NO_SUCH_SESSION, ROOT, SERVICE ".Tools", "Call", "ssa{sv}", "t", "{}", 1, "session", "o", path);
        act(client, ROOT, SERVICE ".Tools", "List", "a{sv}", 1, "session", "o", path);

        assert_error(client, ERROR_NOT_AUTHORIZED, ROOT, SERVICE ".Sessions", "Open", "a{sv}", 1, "posture", "s", "full-access");
        assert_error(client, ERROR_INVALID_ARGUMENTS, path, SERVICE ".Session", "SetMode", "s", "shout");
        act(client, path, SERVICE ".Session", "Close", NULL);
        wait_to_see(other, seen, closed);
        assert_error(client, ERROR_NO_SUCH_SESSION, path, SERVICE ".Session", "Close", NULL);
        assert_error(client, ERROR_NO_SUCH_SESSION, ROOT, SERVICE ".Tools", "List", "a{sv}", 1, "session", "o", path);
}

static void test_session_ends_with_client(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        g_autoptr(GPtrArray) seen = watch(other);
        g_autofree char *closed = NULL;

        act(other, ROOT, SERVICE, "Describe", NULL);
        {
                g_autoptr(sd_bus) client = private_bus_open(served.bus);
                g_autofree char *path = text_of(client, ROOT, SERVICE ".Sessions", "Open", "a{sv}", 0);

                closed = g_strconcat("Closed ", path, NULL);
        }
        wait_to_see(other, seen, closed);
}

/* ---- cards ---- */

static void test_approvals(void) {
        g_autoptr(sd_bus) requester = private_bus_open(served.bus), approver = private_bus_open(served.bus);
        g_autoptr(GPtrArray) seen = watch(approver);
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *path = NULL, *card = NULL, *removed = NULL;
        const char *name;
        char text[32];
        uint64_t id;
        int fd;

        g_assert_cmpint(sd_bus_get_unique_name(requester, &name), >=, 0);
        assert_error(approver, ERROR_NO_APPROVER, PROBE_PATH, PROBE_INTERFACE, "OpenCard", "ss", name, "{}");
        act(approver, ROOT, SERVICE ".Approvals", "Register", "a{sv}", 1, "label", "s", "test");
        act(requester, ROOT, SERVICE ".Approvals", "Register", "a{sv}", 0);
        id = served_open_card(requester, name, "{\"label\":\"first\"}");
        path = g_strdup_printf(ROOT "/approval/%" G_GUINT64_FORMAT, id);
        wait_to_see(approver, seen, "Opened ");

        card = property(approver, path, SERVICE ".Approval", "Card");
        g_assert_nonnull(strstr(card, "\"tool\":\"mod_counter\""));
        g_assert_cmpint(sd_bus_call_method(approver, SERVICE, path, SERVICE ".Approval", "OpenArguments", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "h", &fd), >, 0);
        g_assert_cmpint(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE, !=, 0);
        g_assert_cmpint(read(fd, text, sizeof text), ==, 17);
        g_assert_cmpmem(text, 17, "{\"label\":\"first\"}", 17);

        assert_error(requester, ERROR_OWN_APPROVAL, path, SERVICE ".Approval", "Answer", "ssa{sv}", "allow", "d1", 0);
        assert_error(approver, ERROR_DIGEST_MISMATCH, path, SERVICE ".Approval", "Answer", "ssa{sv}", "allow", "d2", 0);
        assert_error(approver, ERROR_INVALID_ARGUMENTS, path, SERVICE ".Approval", "Answer", "ssa{sv}", "maybe", "d1", 0);
        assert_error(approver, ERROR_INVALID_OPTION, path, SERVICE ".Approval", "Answer", "ssa{sv}", "allow", "d1", 1, "scop", "s",
                     "once");
        act(approver, path, SERVICE ".Approval", "Answer", "ssa{sv}", "allow", "d1", 1, "scope", "s", "session");
        removed = g_strconcat("InterfacesRemoved ", path, NULL);
        wait_to_see(approver, seen, removed);
        assert_error(approver, ERROR_NO_SUCH_APPROVAL, path, SERVICE ".Approval", "Answer", "ssa{sv}", "allow", "d1", 0);
        assert_error(approver, ERROR_ALREADY_DECIDED, ROOT, SERVICE ".Approvals", "Answer", "tssa{sv}", id, "allow", "d1", 0);
        act(approver, ROOT, SERVICE ".Approvals", "Unregister", NULL);
        assert_error(approver, ERROR_NOT_APPROVER, ROOT, SERVICE ".Approvals", "Answer", "tssa{sv}", id, "allow", "d1", 0);
}

/* An approver is one until he leaves the bus. */
static void test_approver_leaves(void) {
        g_autoptr(sd_bus) other = private_bus_open(served.bus);
        ServedCounts before = served_count(other);
        uint64_t id;

        {
                g_autoptr(sd_bus) approver = private_bus_open(served.bus);

                act(approver, ROOT, SERVICE ".Approvals", "Register", "a{sv}", 0);
                id = served_open_card(other, ":1.99998", "{}");
        }
        (void) served_wait_for_callers(other, before.callers);
        assert_error(other, ERROR_NO_SUCH_APPROVAL, ROOT, SERVICE ".Approvals", "Describe", "t", id);
        assert_error(other, ERROR_NO_APPROVER, PROBE_PATH, PROBE_INTERFACE, "OpenCard", "ss", ":1.99998", "{}");
}

/* ---- errors ---- */

static void test_errors(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        static const struct {
                const char *interface, *member, *error;
        } texts[] = {
                { ".Plugins", "Describe", ERROR_NO_SUCH_PLUGIN },   { ".Storage", "List", ERROR_NO_SUCH_PLUGIN },
                { ".Storage", "Usage", ERROR_NO_SUCH_PLUGIN },      { ".Grants", "Revoke", ERROR_NO_SUCH_GRANT },
                { ".Decisions", "Get", ERROR_NO_SUCH_DECISION },
        };
        static const char *const values[] = { "no-such", "", "%s%n%08x", "0", "-1", "18446744073709551616", "\xe2\x80\xae", "../.." };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                for (size_t k = 0; k < G_N_ELEMENTS(values); k++) {
                        g_autofree char *interface = g_strconcat(SERVICE, texts[i].interface, NULL);

                        g_test_message("%s.%s(%s)", interface, texts[i].member, values[k]);
                        assert_error(client, texts[i].error, ROOT, interface, texts[i].member, "s", values[k]);
                }

        assert_error(client, ERROR_NO_SUCH_TOOL, ROOT, SERVICE ".Tools", "Call", "ssa{sv}", "none", "{}", 0);
        assert_error(client, ERROR_NO_SUCH_TOOL, ROOT, SERVICE ".Tools", "Start", "ssa{sv}", "none", "{}", 0);
        assert_error(client, ERROR_NO_SUCH_TOOL, ROOT, SERVICE ".Tools", "CallBytes", "saya{sv}", "none", 2, '{', '}', 0);
        assert_error(client, ERROR_NO_SUCH_TOOL, ROOT, SERVICE ".Tools", "Describe", "sa{sv}", "none", 0);
        assert_error(client, ERROR_NO_SUCH_COMMAND, ROOT, SERVICE ".Commands", "Run", "ssa{sv}", "none", "", 0);
        assert_error(client, ERROR_NO_SUCH_APPROVAL, ROOT, SERVICE ".Approvals", "Describe", "t", UINT64_MAX);
        assert_error(client, ERROR_NO_SUCH_REQUEST, ROOT "/request/1_1/none", SERVICE ".Request", "Close", NULL);
        assert_error(client, ERROR_NO_SUCH_SESSION, ROOT "/session/4711", SERVICE ".Session", "Close", NULL);
}

static void test_options(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        static const struct {
                const char *interface, *member, *types;
        } methods[] = {
                { ".Plugins", "List", "" },    { ".Tools", "List", "" },       { ".Commands", "List", "" },  { ".Hooks", "List", "" },
                { ".Sessions", "Open", "" },   { ".Approvals", "Register", "" }, { ".Decisions", "Query", "" }, { ".Prompt", "Snapshot", "" },
                { ".Plugins", "Review", "s" }, { ".Plugins", "Install", "s" }, { ".Plugins", "Enable", "s" }, { ".Tools", "Describe", "s" },
                { ".Tools", "Call", "ss" },    { ".Tools", "Start", "ss" },    { ".Commands", "Run", "ss" }, { ".Plugins", "Trust", "ss" },
        };

        act(client, ROOT, PLUGINS, "Install", "sa{sv}", served.source, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(methods); i++) {
                g_autofree char *interface = g_strconcat(SERVICE, methods[i].interface, NULL);
                g_autofree char *types = g_strconcat(methods[i].types, "a{sv}", NULL);

                g_test_message("%s.%s", interface, methods[i].member);
                if (strlen(methods[i].types) == 0)
                        assert_error(client, ERROR_INVALID_OPTION, ROOT, interface, methods[i].member, types, 1, "sesion", "s", "x");
                else if (strlen(methods[i].types) == 1)
                        assert_error(client, ERROR_INVALID_OPTION, ROOT, interface, methods[i].member, types, "counter", 1, "sesion", "s", "x");
                else
                        assert_error(client, ERROR_INVALID_OPTION, ROOT, interface, methods[i].member, types, "counter", "{}", 1, "sesion", "s", "x");
        }
        act(client, ROOT, PLUGINS, "Uninstall", "sa{sv}", "counter", 0);

        assert_error(client, ERROR_INVALID_OPTION, ROOT, SERVICE ".Decisions", "Query", "a{sv}", 1, "limit", "u", 1001u);
        assert_error(client, ERROR_INVALID_OPTION, ROOT, SERVICE ".Tools", "Call", "ssa{sv}", "t", "{}", 1, "deadline-ms", "u", 120001u);
        assert_error(client, ERROR_INVALID_OPTION, ROOT, SERVICE ".Tools", "Call", "ssa{sv}", "t", "{}", 1, "handle-token", "s", "a");
        assert_error(client, ERROR_INVALID_OPTION, ROOT, SERVICE ".Tools", "Start", "ssa{sv}", "t", "{}", 1, "handle-token", "s", "a-b");
        assert_error(client, ERROR_INVALID_OPTION, ROOT, SERVICE ".Tools", "Start", "ssa{sv}", "t", "{}", 1, "handle-token", "s", "");
}

static void test_decisions(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        g_autofree char *records = text_of(client, ROOT, SERVICE ".Decisions", "Query", "a{sv}", 1, "limit", "u", 10u);

        g_assert_cmpint(records[0], ==, '[');
}

/* ---- the log ---- */

static void test_log_control(void) {
        static const char *const paths[] = { "/org/freedesktop/LogControl1", ROOT };
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        const char *interface = "org.freedesktop.LogControl1";

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autofree char *level = NULL, *target = NULL, *identifier = NULL;

                g_assert_cmpint(sd_bus_set_property(client, SERVICE, paths[i], interface, "LogLevel", NULL, "s", "debug"), >=, 0);
                level = property(client, paths[i], interface, "LogLevel");
                g_assert_cmpstr(level, ==, "debug");
                target = property(client, paths[i], interface, "LogTarget");
                g_assert_cmpstr(target, ==, "null");
                identifier = property(client, paths[i], interface, "SyslogIdentifier");
                g_assert_cmpstr(identifier, ==, "test-dbus-objects");

                g_assert_cmpint(sd_bus_set_property(client, SERVICE, paths[i], interface, "LogLevel", &error, "s", "loud"), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_ARGUMENTS);
                sd_bus_error_free(&error);
                g_assert_cmpint(sd_bus_set_property(client, SERVICE, paths[i], interface, "LogTarget", &error, "s", "/etc"), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_ARGUMENTS);
                g_assert_cmpint(sd_bus_set_property(client, SERVICE, paths[i], interface, "LogLevel", NULL, "s", "info"), >=, 0);
        }
}

/* ---- who is not served ---- */

/* As another user; the exit status of the child says how it was. What is there and what is not is told alike. */
static int call_as_nobody(const char *session) {
        const struct {
                const char *path, *interface, *method, *argument;
        } others[] = {
                { ROOT, SERVICE ".Sessions", "List", NULL },
                { ROOT, SERVICE ".Approvals", "List", NULL },
                { ROOT, SERVICE ".Grants", "List", NULL },
                { ROOT, SERVICE ".Decisions", "Get", "c-1" },
                { ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL },
                { session, "org.freedesktop.DBus.Properties", "GetAll", SERVICE ".Session" },
                { session, SERVICE ".Session", "SetPosture", "never" },
                { ROOT "/session/4711", "org.freedesktop.DBus.Properties", "GetAll", SERVICE ".Session" },
                { ROOT "/session/4711", SERVICE ".Session", "SetPosture", "never" },
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus) client = NULL;

        if (setgid(65534) < 0 || setuid(65534) < 0)
                return 2;
        client = private_bus_open(served.bus);
        if (sd_bus_call_method(client, SERVICE, ROOT, SERVICE, "Describe", &error, NULL, NULL) >= 0)
                return 3;
        if (g_strcmp0(error.name, ERROR_ACCESS_DENIED) != 0)
                return 4;
        /* Nor by way of the standard interfaces. */
        if (sd_bus_call_method(client, SERVICE, ROOT, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, NULL, NULL) >= 0 ||
            sd_bus_call_method(client, SERVICE, ROOT, "org.freedesktop.DBus.Properties", "GetAll", NULL, NULL, "s", SERVICE) >= 0 ||
            sd_bus_call_method(client, SERVICE, ROOT, "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, NULL) >= 0)
                return 5;
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
                g_auto(sd_bus_error) refused = SD_BUS_ERROR_NULL;

                if (sd_bus_call_method(client, SERVICE, others[i].path, others[i].interface, others[i].method, &refused, NULL,
                                       others[i].argument ? "s" : NULL, others[i].argument) >= 0 ||
                    g_strcmp0(refused.name, ERROR_ACCESS_DENIED) != 0)
                        return 10 + (int) i;
        }
        return 0;
}

static void test_other_user(void) {
        g_autoptr(sd_bus) owner = private_bus_open(served.bus);
        g_autoptr(sd_bus_message) reply = NULL;
        const char *session;
        int status;
        pid_t child;

        if (geteuid() != 0) {
                g_test_skip("only root can be somebody else");
                return;
        }
        g_assert_cmpint(sd_bus_call_method(owner, SERVICE, ROOT, SERVICE ".Sessions", "Open", NULL, &reply, "a{sv}", 1, "label", "s",
                                           "nobody's business"), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "o", &session), >, 0);
        (void) fflush(NULL);
        child = fork();
        if (child == 0)
                _exit(call_as_nobody(session));
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        served = served_start();
        g_test_add_func("/dbus/plugins/validate", test_validate);
        g_test_add_func("/dbus/plugins/life-of-a-bundle", test_life_of_a_bundle);
        g_test_add_func("/dbus/plugins/workspace", test_workspace);
        g_test_add_func("/dbus/sessions/owner", test_sessions);
        g_test_add_func("/dbus/sessions/H15-end-with-client", test_session_ends_with_client);
        g_test_add_func("/dbus/approvals/answer", test_approvals);
        g_test_add_func("/dbus/approvals/H15-approver-leaves", test_approver_leaves);
        g_test_add_func("/dbus/errors/named", test_errors);
        g_test_add_func("/dbus/options/every-method", test_options);
        g_test_add_func("/dbus/decisions/query", test_decisions);
        g_test_add_func("/dbus/log-control", test_log_control);
        g_test_add_func("/dbus/caller/other-user", test_other_user);
        r = g_test_run();
        served_stop(&served);
        return r;
}
