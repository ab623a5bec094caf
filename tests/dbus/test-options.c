/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "dbus/options.h"

typedef struct Target {
        const char *text;
        const char *path;
        uint32_t small;
        uint64_t large;
        int flag;
} Target;

static const Option table[] = {
        { "text", 's', offsetof(Target, text), 8 },
        OPTION("path", 'o', Target, path),
        OPTION("small", 'u', Target, small),
        OPTION("large", 't', Target, large),
        OPTION("flag", 'b', Target, flag),
};

/* A message needs a connection to be made on; it is never sent. */
static sd_bus *open_nowhere(void) {
        sd_bus *bus = NULL;
        int ends[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(bus, ends[0], ends[0]), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), >=, 0);
        (void) close(ends[1]);
        return bus;
}

static void close_nowhere(sd_bus *bus) {
        sd_bus_close(bus);
        sd_bus_unref(bus);
}

static sd_bus_message *new_message(sd_bus *bus) {
        sd_bus_message *m = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(bus, &m, NULL, "/", "a.b", "C"), >=, 0);
        return m;
}

static int read_back(sd_bus_message *m, Target *target, sd_bus_error *reterr) {
        g_assert_cmpint(sd_bus_message_seal(m, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(m, true), >=, 0);
        return options_read(m, table, G_N_ELEMENTS(table), target, reterr);
}

static void test_read(void) {
        sd_bus *bus = open_nowhere();
        g_autoptr(sd_bus_message) m = new_message(bus);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Target target = { .large = 7 };

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 4, "flag", "b", 1, "text", "s", "12345678", "small", "u",
                                        UINT32_MAX, "path", "o", "/a"), >=, 0);
        g_assert_cmpint(read_back(m, &target, &error), ==, 0);
        g_assert_cmpstr(target.text, ==, "12345678");
        g_assert_cmpstr(target.path, ==, "/a");
        g_assert_cmpuint(target.small, ==, UINT32_MAX);
        g_assert_cmpuint(target.large, ==, 7); /* not given: as it was */
        g_assert_cmpint(target.flag, ==, 1);
        close_nowhere(bus);
}

static void test_nothing(void) {
        sd_bus *bus = open_nowhere();
        g_autoptr(sd_bus_message) m = new_message(bus);
        Target target = {};

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}s", 0, "behind"), >=, 0);
        g_assert_cmpint(read_back(m, &target, NULL), ==, 0);
        g_assert_null(target.text);

        const char *behind;
        g_assert_cmpint(sd_bus_message_read(m, "s", &behind), >, 0);
        g_assert_cmpstr(behind, ==, "behind");
        close_nowhere(bus);
}

static void append_one(sd_bus_message *m, const char *name, const char *type, const char *value) {
        if (type[0] == 'u')
                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "u", 1u), >=, 0);
        else if (type[0] == 'b')
                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "b", 1), >=, 0);
        else if (type[0] == 'v')
                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "v", "s", value), >=, 0);
        else if (type[0] == 'a')
                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, "as", 1, value), >=, 0);
        else
                g_assert_cmpint(sd_bus_message_append(m, "{sv}", name, type, value), >=, 0);
}

/* Each is refused, and the words name the option. */
static void test_refused(void) {
        static const struct {
                const char *name, *type, *value;
        } cases[] = {
                { "unknown", "s", "" },
                { "Text", "s", "" },
                { "text ", "s", "" },
                { "", "s", "" },
                { "text", "u", "" },
                { "text", "v", "" },
                { "text", "as", "" },
                { "text", "o", "/" },
                { "path", "s", "/" },
                { "small", "s", "1" },
                { "flag", "u", "" },
                { "large", "u", "" },
                { "text", "s", "123456789" },
                { "%s%n%08x", "s", "" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                sd_bus *bus = open_nowhere();
                g_autoptr(sd_bus_message) m = new_message(bus);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                Target target = {};

                g_test_message("case %zu: %s %s", i, cases[i].name, cases[i].type);
                g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
                append_one(m, cases[i].name, cases[i].type, cases[i].value);
                g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
                g_assert_cmpint(read_back(m, &target, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
                g_assert_nonnull(strstr(error.message, cases[i].name));
                close_nowhere(bus);
        }
}

static void test_twice(void) {
        sd_bus *bus = open_nowhere();
        g_autoptr(sd_bus_message) m = new_message(bus);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Target target = {};

        g_assert_cmpint(sd_bus_message_append(m, "a{sv}", 2, "small", "u", 1u, "small", "u", 2u), >=, 0);
        g_assert_cmpint(read_back(m, &target, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
        g_assert_nonnull(strstr(error.message, "'small'"));
        close_nowhere(bus);
}

/* A long walk of valid but unknown names ends at the first. */
static void test_many(void) {
        sd_bus *bus = open_nowhere();
        g_autoptr(sd_bus_message) m = new_message(bus);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Target target = {};

        g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
        for (unsigned i = 0; i < 10000; i++) {
                g_autofree char *name = g_strdup_printf("option-%u", i);

                append_one(m, name, "s", "value");
        }
        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
        g_assert_cmpint(read_back(m, &target, &error), <, 0);
        g_assert_nonnull(strstr(error.message, "'option-0'"));
        close_nowhere(bus);
}

/* A value as deep as the format allows, behind an unknown and behind a known name, is refused without being entered. */
static void test_deep(void) {
        static const char *const names[] = { "unknown", "text" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                sd_bus *bus = open_nowhere();
                g_autoptr(sd_bus_message) m = new_message(bus);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                Target target = {};
                const unsigned depth = 60;

                g_assert_cmpint(sd_bus_message_open_container(m, 'a', "{sv}"), >=, 0);
                g_assert_cmpint(sd_bus_message_open_container(m, 'e', "sv"), >=, 0);
                g_assert_cmpint(sd_bus_message_append(m, "s", names[i]), >=, 0);
                for (unsigned level = 1; level < depth; level++)
                        g_assert_cmpint(sd_bus_message_open_container(m, 'v', "v"), >=, 0);
                g_assert_cmpint(sd_bus_message_append(m, "v", "s", "bottom"), >=, 0);
                for (unsigned level = 1; level < depth; level++)
                        g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
                g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
                g_assert_cmpint(sd_bus_message_close_container(m), >=, 0);
                g_assert_cmpint(read_back(m, &target, &error), <, 0);
                g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
                close_nowhere(bus);
        }
}

static void test_wrong_signature(void) {
        sd_bus *bus = open_nowhere();
        g_autoptr(sd_bus_message) m = new_message(bus);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Target target = {};

        g_assert_cmpint(sd_bus_message_append(m, "s", "no options"), >=, 0);
        g_assert_cmpint(read_back(m, &target, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_INVALID_ARGUMENTS);
        close_nowhere(bus);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/dbus/options/read", test_read);
        g_test_add_func("/dbus/options/nothing", test_nothing);
        g_test_add_func("/dbus/options/refused", test_refused);
        g_test_add_func("/dbus/options/twice", test_twice);
        g_test_add_func("/dbus/options/many", test_many);
        g_test_add_func("/dbus/options/DB-01-deep-variant", test_deep);
        g_test_add_func("/dbus/options/wrong-signature", test_wrong_signature);
        return g_test_run();
}
