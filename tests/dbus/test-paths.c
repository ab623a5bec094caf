/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "common/limits.h"
#include "dbus/paths.h"

static void test_plugin(void) {
        static const char *const ids[] = {
                "user/0123456789ab/counter", "workspace/ffffffffffff/a.b-c_d", "builtin/000000000000/\xc3\xa4", "_", "a/b/1",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                g_autofree char *path = path_of_plugin(ids[i]), *back = path_to_plugin(path);

                g_assert_true(sd_bus_object_path_is_valid(path));
                g_assert_cmpstr(back, ==, ids[i]);
        }
}

static void test_no_plugin(void) {
        static const char *const paths[] = { PATH_ROOT, PATH_PLUGIN, PATH_PLUGIN "/a/b", PATH_PLUGIN "/user/0123456789ab/counter", PATH_PLUGIN "/", PATH_ROOT "/plugins/a", "/" };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_autofree char *id = path_to_plugin(paths[i]);

                g_test_message("%s", paths[i]);
                g_assert_null(id);
        }
}

static void test_number(void) {
        static const struct {
                const char *path;
                bool valid;
                uint64_t number;
        } cases[] = {
                { PATH_SESSION "/1",                    true,  1          },
                { PATH_SESSION "/18446744073709551615", true,  UINT64_MAX },
                { PATH_SESSION "/18446744073709551616", false, 0          },
                { PATH_SESSION "/0",                    false, 0          },
                { PATH_SESSION "/01",                   false, 0          },
                { PATH_SESSION "/1/2",                  false, 0          },
                { PATH_SESSION "/",                     false, 0          },
                { PATH_SESSION,                         false, 0          },
                { PATH_SESSION "s/1",                   false, 0          },
                { PATH_APPROVAL "/1",                   false, 0          },
                { PATH_SESSION "/1x",                   false, 0          },
                { PATH_SESSION "/_1",                   false, 0          },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                uint64_t number = 0;

                g_test_message("%s", cases[i].path);
                g_assert_cmpint(path_to_number(cases[i].path, PATH_SESSION, &number), ==, cases[i].valid);
                g_assert_cmpuint(number, ==, cases[i].number);
        }
}

static void test_token(void) {
        g_autofree char *longest = g_strnfill(HANDLE_TOKEN_CHARS_MAX, 'x');
        g_autofree char *too_long = g_strnfill(HANDLE_TOKEN_CHARS_MAX + 1, 'x');
        const struct {
                const char *token;
                bool valid;
        } cases[] = {
                { "a",      true  },
                { "_",      true  },
                { "0",      true  },
                { "aZ_09",  true  },
                { longest,  true  },
                { too_long, false },
                { "",       false },
                { "a-b",    false },
                { "a/b",    false },
                { "a b",    false },
                { "a.b",    false },
                { "\xc3\xa4", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("'%s'", cases[i].token);
                g_assert_cmpint(handle_token_is_valid(cases[i].token), ==, cases[i].valid);
        }
}

static void test_request(void) {
        g_autofree char *path = path_of_request(":1.42", "my_token");

        g_assert_cmpstr(path, ==, "/org/codewhale/Extensions/request/1_42/my_token");
        g_assert_true(path_is_request(path));
        g_assert_false(path_is_request(PATH_REQUEST "/1_42"));
        g_assert_false(path_is_request(PATH_REQUEST "/1_42/a/b"));
        g_assert_false(path_is_request(PATH_REQUEST));
}

static void test_default_token(void) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (unsigned i = 0; i < 1000; i++) {
                char *token = handle_token_new();

                g_assert_true(handle_token_is_valid(token));
                g_assert_true(g_hash_table_add(seen, token));
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/dbus/paths/plugin", test_plugin);
        g_test_add_func("/dbus/paths/no-plugin", test_no_plugin);
        g_test_add_func("/dbus/paths/number", test_number);
        g_test_add_func("/dbus/paths/token", test_token);
        g_test_add_func("/dbus/paths/request", test_request);
        g_test_add_func("/dbus/paths/default-token", test_default_token);
        return g_test_run();
}
