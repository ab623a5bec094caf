/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/dev-watch.h"
#include "cli/scaffold.h"
#include "cli/top-view.h"

static void test_bytes(void) {
        static const struct {
                uint64_t bytes;
                const char *text;
        } cases[] = {
                { 0, "0B" },
                { 999, "999B" },
                { 1000, "1.0K" },
                { 1536, "1.5K" },
                { UINT64_C(100) << 10, "100K" },
                { UINT64_C(1023) << 10, "1.0M" },
                { UINT64_C(17) << 20, "17.0M" },
                { UINT64_C(1) << 30, "1.0G" },
                { UINT64_MAX, "16.0E" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = top_view_bytes(cases[i].bytes);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

static void test_age(void) {
        static const struct {
                uint64_t seconds;
                const char *text;
        } cases[] = {
                { 0, "0s" }, { 59, "59s" }, { 60, "1m00s" }, { 3599, "59m59s" }, { 3600, "1h00m" },
                { 86399, "23h59m" }, { 86400, "1d00h" }, { 86400 * 99 + 3600, "99d01h" }, { 86400 * 400, "400d" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = top_view_age(cases[i].seconds * G_USEC_PER_SEC);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* What a plugin calls itself, and why it failed, must not steer the terminal. */
static void test_safe(void) {
        TopPlugin plugin = { .id = (char *) "user/1/x", .name = (char *) "na\033[2Jme", .state = (char *) "active",
                .host_state = (char *) "failed", .failure = (char *) "no\nluck\033]0;x\a", .cpu_percent = -1 };
        TopCard card = { .id = 3, .title = (char *) "wants\033[31m you" };
        TopSample sample = { .version = (char *) "1", .health = (char *) "bad\rhealth" };
        g_autoptr(GString) out = g_string_new(NULL);
        Cli cli = { .colour = false };

        sample.plugins = g_ptr_array_new();
        sample.cards = g_ptr_array_new();
        g_ptr_array_add(sample.plugins, &plugin);
        g_ptr_array_add(sample.cards, &card);
        for (unsigned columns = 0; columns < 130; columns += 10) {
                g_string_truncate(out, 0);
                top_view_render(&cli, &sample, TOP_ORDER_NAME, columns, columns, out);
                g_assert_null(strpbrk(out->str, "\033\r\a"));
        }
        g_assert_nonnull(strstr(out->str, "luck"));

        /* What is too high is cut, said, and leaves the keys where they are. */
        for (unsigned rows = 2; rows < 12; rows++) {
                unsigned n = 0;

                g_string_truncate(out, 0);
                top_view_render(&cli, &sample, TOP_ORDER_NAME, 80, rows, out);
                for (const char *at = out->str; *at; at++)
                        n += *at == '\n';
                g_assert_cmpuint(n, <=, rows);
                g_assert_true(g_str_has_suffix(out->str, "q quit\n"));
                g_assert_true((strstr(out->str, " more lines have no room\n") != NULL) == (strstr(out->str, "luck") == NULL));
        }
        g_ptr_array_unref(sample.plugins);
        g_ptr_array_unref(sample.cards);
}

static void test_orders(void) {
        for (int i = 0; i < _TOP_ORDER_MAX; i++)
                g_assert_cmpint(top_order_from_string(top_order_to_string((TopOrder) i)), ==, i);
        g_assert_cmpint(top_order_from_string("size"), <, 0);
}

static void test_names(void) {
        static const char *const good[] = { "a", "0", "word-count", "a.b-c9", "mcp-server" };
        static const char *const bad[] = { "", "A", "-a", "a-", ".a", "a.", "a--b", "a..b", "a/b", "a b", "con",
                "aux.x", "lpt1", "\303\244" };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_null(scaffold_check_name(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_nonnull(scaffold_check_name(bad[i]));
}

static void test_noise(void) {
        static const char *const noise[] = { ".git", ".x.swp", "node_modules", "a~", "b.swp", "4913" };
        static const char *const news[] = { "a.mjs", "plugin.json", "skills", "node_modules2" };

        for (size_t i = 0; i < G_N_ELEMENTS(noise); i++)
                g_assert_true(dev_watch_is_noise(noise[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(news); i++)
                g_assert_false(dev_watch_is_noise(news[i]));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/top/bytes", test_bytes);
        g_test_add_func("/cli/top/age", test_age);
        g_test_add_func("/cli/top/safe", test_safe);
        g_test_add_func("/cli/top/orders", test_orders);
        g_test_add_func("/cli/new/names", test_names);
        g_test_add_func("/cli/dev/noise", test_noise);
        return g_test_run();
}
