/* SPDX-License-Identifier: MIT */

/* data/dbus/ is the contract: what the running service shows is held against it, object by object, on the bus and on a
 * direct channel. */

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "interface-list.h"
#include "served.h"

static Served served;

static char *read_xml(const char *interface) {
        g_autofree char *path = g_strconcat(INTERFACE_DIRECTORY "/", interface, ".xml", NULL);
        char *text = NULL;

        g_test_message("%s", path);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        return text;
}

static InterfaceList *introspect(sd_bus *client, const char *service, const char *path) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *xml;

        g_assert_cmpint(sd_bus_call_method(client, service, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL,
                                        &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "s", &xml), >, 0);
        return interface_list_parse(xml);
}

/* Every file in the folder is met once over all objects; what is met and not written down fails at reading the file. */
static unsigned check_object(sd_bus *client, const char *service, const char *path) {
        g_autoptr(InterfaceList) live = introspect(client, service, path);
        GHashTableIter iter;
        unsigned n = 0;
        void *name;

        g_hash_table_iter_init(&iter, live->interfaces);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
                g_autofree char *xml = NULL, *is = NULL, *should_be = NULL;
                g_autoptr(InterfaceList) written = NULL;

                if (!g_str_has_prefix(name, "org.codewhale."))
                        continue;
                xml = read_xml(name);
                written = interface_list_parse(xml);
                is = interface_list_lines(live, name);
                should_be = interface_list_lines(written, name);
                g_assert_cmpstr(is, ==, should_be);
                n++;
        }
        return n;
}

static char *own_plugin(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *id, *path;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Plugins", "Install", NULL, NULL, "sa{sv}",
                                        served.source, 0), >=, 0);
        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Plugins", "List", NULL, &reply, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_enter_container(reply, 'a', "(sosss)"), >, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "(sosss)", &id, &path, NULL, NULL, NULL), >, 0);
        g_assert_true(g_str_has_suffix(id, "/counter"));
        return g_strdup(path);
}

static char *own_session(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *path;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Sessions", "Open", NULL, &reply, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "o", &path), >, 0);
        return g_strdup(path);
}

static char *own_card(sd_bus *client) {
        uint64_t id;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE ".Approvals", "Register", NULL, NULL, "a{sv}", 0), >=, 0);
        id = served_open_card(client, ":1.99999", "{}");
        return g_strdup_printf(ROOT "/approval/%" G_GUINT64_FORMAT, id);
}

static sd_bus *open_channel(sd_bus *client) {
        g_autoptr(sd_bus_message) reply = NULL;
        sd_bus *channel = NULL;
        int fd;

        g_assert_cmpint(sd_bus_call_method(client, SERVICE, ROOT, SERVICE, "OpenChannel", NULL, &reply, NULL), >=, 0);
        g_assert_cmpint(sd_bus_message_read(reply, "h", &fd), >, 0);
        fd = dup(fd);
        g_assert_cmpint(sd_bus_new(&channel), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(channel, fd, fd), >=, 0);
        g_assert_cmpint(sd_bus_start(channel), >=, 0);
        return channel;
}

static void test_matches_xml(void) {
        g_autoptr(sd_bus) client = private_bus_open(served.bus), channel = open_channel(client);
        g_autofree char *plugin = own_plugin(client), *session = own_session(client), *card = own_card(client);
        const char *request = ROOT "/request/1_1/introspected";
        const struct {
                const char *path;
                unsigned interfaces;
        } objects[] = { { ROOT, 13 }, { plugin, 1 }, { session, 1 }, { card, 1 }, { request, 1 } };
        g_autoptr(GDir) directory = g_dir_open(INTERFACE_DIRECTORY, 0, NULL);
        unsigned shown = 0, files = 0;
        const char *name;

        served_pretend_request(client, request);
        for (size_t i = 0; i < G_N_ELEMENTS(objects); i++) {
                g_test_message("%s", objects[i].path);
                g_assert_cmpuint(check_object(client, SERVICE, objects[i].path), ==, objects[i].interfaces);
                g_assert_cmpuint(check_object(channel, NULL, objects[i].path), ==, objects[i].interfaces);
                shown += objects[i].interfaces;
        }
        while ((name = g_dir_read_name(directory)))
                files += g_str_has_suffix(name, ".xml");
        /* One is for clients to export, not for us. */
        g_assert_cmpuint(shown + 1, ==, files);
}

static void test_standard_interfaces(void) {
        static const char *const names[] = {
                "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable",
                "org.freedesktop.DBus.Peer", "org.freedesktop.LogControl1",
        };
        g_autoptr(sd_bus) client = private_bus_open(served.bus);
        g_autoptr(InterfaceList) live = introspect(client, SERVICE, ROOT);

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_test_message("%s", names[i]);
                g_assert_true(g_hash_table_contains(live->interfaces, names[i]));
        }
}

static void test_documented(void) {
        g_autoptr(GDir) directory = g_dir_open(INTERFACE_DIRECTORY, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(directory))) {
                g_autofree char *path = g_build_filename(INTERFACE_DIRECTORY, name, NULL), *text = NULL;
                g_autoptr(InterfaceList) list = NULL;

                if (!g_str_has_suffix(name, ".xml"))
                        continue;
                g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
                list = interface_list_parse(text);
                if (list->undocumented->len > 0)
                        g_test_message("no text: %s", (char *) g_ptr_array_index(list->undocumented, 0));
                g_assert_cmpuint(list->undocumented->len, ==, 0);
        }
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        served = served_start();
        g_test_add_func("/dbus/interface/matches-xml", test_matches_xml);
        g_test_add_func("/dbus/interface/standard", test_standard_interfaces);
        g_test_add_func("/dbus/interface/documented", test_documented);
        r = g_test_run();
        served_stop(&served);
        return r;
}
