/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"

/* Runs @say with standard error led into a file; returns what was written. */
static char *captured(void (*say)(const void *data), const void *data) {
        g_autofree char *path = NULL, *text = NULL;
        _cleanup_close_ int file = g_file_open_tmp("test-log-XXXXXX", &path, NULL), kept = dup(STDERR_FILENO);

        g_assert_cmpint(file, >=, 0);
        g_assert_cmpint(dup2(file, STDERR_FILENO), ==, STDERR_FILENO);
        say(data);
        g_assert_cmpint(dup2(kept, STDERR_FILENO), ==, STDERR_FILENO);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        (void) g_unlink(path);
        return g_steal_pointer(&text);
}

static void say_text(const void *text) {
        log_plugin(LOG_WARNING, NULL, "user:demo", "demo.service", "it said: %s", (const char *) text);
}

static const struct {
        const char *id;
        const char *text;
        const char *expected;
} text_cases[] = {
        { "plain", "hello", "<4>user:demo: it said: hello\n" },
        { "AP-07-ansi", "\x1b[2Jgone", "<4>user:demo: it said: \\x1b[2Jgone\n" },
        { "forged-line", "x\n<0>kernel: panic", "<4>user:demo: it said: x\\x0a<0>kernel: panic\n" },
        { "DB-03-invalid-utf8", "\xff\xfe", "<4>user:demo: it said: \\xff\\xfe\n" },
        { "DB-16-format", "%s%n%08x", "<4>user:demo: it said: %s%n%08x\n" },
};

static void test_text(const void *data) {
        size_t i = GPOINTER_TO_SIZE(data);
        g_autofree char *written = NULL;

        log_set_target(LOG_TARGET_CONSOLE);
        log_set_level(LOG_INFO);
        written = captured(say_text, text_cases[i].text);
        g_assert_cmpstr(written, ==, text_cases[i].expected);
}

static void say_hostile_id(const void *data) {
        (void) data;
        log_plugin(LOG_ERR, NULL, "user:a\n\x1b[0m", NULL, "x");
}

static void test_owner_is_clean(void) {
        g_autofree char *written = NULL;

        log_set_target(LOG_TARGET_CONSOLE);
        written = captured(say_hostile_id, NULL);
        g_assert_cmpstr(written, ==, "<3>user:a\\x0a\\x1b[0m: x\n");
}

static void say_levels(const void *data) {
        (void) data;
        log_error("e");
        log_warning("w");
        log_notice("n");
        log_info("i");
        log_debug("d");
}

static void test_level(void) {
        g_autofree char *all = NULL, *few = NULL, *none = NULL;

        log_set_target(LOG_TARGET_CONSOLE);
        log_set_level(LOG_DEBUG);
        all = captured(say_levels, NULL);
        g_assert_cmpstr(all, ==, "<3>e\n<4>w\n<5>n\n<6>i\n<7>d\n");
        log_set_level(LOG_WARNING);
        few = captured(say_levels, NULL);
        g_assert_cmpstr(few, ==, "<3>e\n<4>w\n");
        log_set_target(LOG_TARGET_NULL);
        none = captured(say_levels, NULL);
        g_assert_cmpstr(none, ==, "");
}

static void test_words(void) {
        for (int target = 0; target < _LOG_TARGET_MAX; target++)
                g_assert_cmpint(log_target_from_string(log_target_to_string((LogTarget) target)), ==, target);
        for (int level = LOG_EMERG; level <= LOG_DEBUG; level++)
                g_assert_cmpint(log_level_from_string(log_level_to_string(level)), ==, level);

        g_assert_cmpint(log_target_from_string("syslog"), ==, _LOG_TARGET_INVALID);
        g_assert_cmpint(log_target_from_string(NULL), ==, _LOG_TARGET_INVALID);
        g_assert_cmpint(log_level_from_string("Info"), ==, -EINVAL);
        g_assert_cmpint(log_level_from_string(NULL), ==, -EINVAL);
        g_assert_null(log_level_to_string(8));
        g_assert_null(log_level_to_string(-1));
        g_assert_null(log_target_to_string(_LOG_TARGET_INVALID));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(text_cases); i++) {
                g_autofree char *path = g_strdup_printf("/log/text/%s", text_cases[i].id);

                g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_text);
        }
        g_test_add_func("/log/owner-is-clean", test_owner_is_clean);
        g_test_add_func("/log/level", test_level);
        g_test_add_func("/log/words", test_words);
        return g_test_run();
}
