/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/authorize.h"
#include "dbus/bus-interfaces.h"
#include "dbus/paths.h"

/* The first element of a table says how large the others are. */
static const sd_bus_vtable *next_element(const sd_bus_vtable *start, const sd_bus_vtable *at) {
        return (const sd_bus_vtable *) ((const char *) at + start->x.start.element_size);
}

static unsigned check_interface(const BusInterface *interface) {
        const sd_bus_vtable *start = interface->vtable;
        unsigned n = 0;

        g_assert_cmpint(start->type, ==, _SD_BUS_VTABLE_START);
        for (const sd_bus_vtable *at = next_element(start, start); at->type != _SD_BUS_VTABLE_END; at = next_element(start, at)) {
                if (at->type != _SD_BUS_VTABLE_METHOD)
                        continue;
                g_test_message("%s.%s", interface->name, at->x.method.member);
                g_assert_cmpint(authorize_find(interface->name, at->x.method.member), >=, 0);
                /* Deliberately: everybody who is served at all is of our own user. */
                g_assert_true(at->flags & SD_BUS_VTABLE_UNPRIVILEGED);
                g_assert_nonnull(at->x.method.names);
                n++;
        }
        return n;
}

static void test_every_method_has_a_rule(void) {
        unsigned n = 0;

        for (const BusInterface *const *interface = bus_interfaces; *interface; interface++)
                n += check_interface(*interface);

        g_assert_cmpuint(n, >=, 48);
}

static void test_missing_is_refused(void) {
        static const struct {
                const char *interface, *member;
        } cases[] = {
                { INTERFACE_TOOLS, "Destroy" }, { INTERFACE_TOOLS, "list" },      { INTERFACE_TOOLS, "" },
                { INTERFACE_TOOLS, NULL },      { INTERFACE_ROOT, "List" },       { NULL, "List" },
                { "org.example", "List" },      { INTERFACE_LOG_CONTROL, "List" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                g_assert_cmpint(authorize_call(NULL, cases[i].interface, cases[i].member, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_ACCESS_DENIED);
        }
}

static void test_personal_acts(void) {
        g_assert_cmpint(authorize_find(INTERFACE_PLUGINS, "Trust"), ==, AUTHORIZE_PERSONAL);
        g_assert_cmpint(authorize_find(INTERFACE_SESSION, "SetPosture"), ==, AUTHORIZE_PERSONAL);
        g_assert_cmpint(authorize_call(NULL, INTERFACE_PLUGINS, "Trust", NULL), ==, 1);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/dbus/authorize/every-method-has-a-rule", test_every_method_has_a_rule);
        g_test_add_func("/dbus/authorize/missing-is-refused", test_missing_is_refused);
        g_test_add_func("/dbus/authorize/personal-acts", test_personal_acts);
        return g_test_run();
}
