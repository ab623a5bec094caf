/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"

static const struct {
        const char *id;
        const char *text;
        const char *expected;
} text_cases[] = {
        { "plain", "No plugin 'x'.", "No plugin 'x'." },
        { "AP-07-ansi", "\x1b[2JApproved", "\\x1b[2JApproved" },
        { "DB-03-invalid-utf8", "\xff\xfe\n", "\\xff\\xfe\\x0a" },
        { "DB-16-format", "%s%n%08x", "%s%n%08x" },
        { "bidi", "a\u202eb", "a\\u{202e}b" },
};

static void test_text(const void *data) {
        size_t i = GPOINTER_TO_SIZE(data);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        g_assert_cmpint(errors_set(&error, ERROR_NO_SUCH_PLUGIN, "%s", text_cases[i].text), ==, -ENOENT);
        g_assert_cmpstr(error.name, ==, ERROR_NO_SUCH_PLUGIN);
        g_assert_cmpstr(error.message, ==, text_cases[i].expected);
}

static void test_long_text(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = g_strnfill(2 * ERROR_TEXT_BYTES_MAX, 'x');

        g_assert_cmpint(errors_set(&error, ERROR_TOO_LARGE, "%s", text), ==, -E2BIG);
        g_assert_cmpuint(strlen(error.message), ==, ERROR_TEXT_BYTES_MAX);
        g_assert_true(g_str_has_suffix(error.message, "…"));
}

static void test_without_reterr(void) {
        g_assert_cmpint(errors_set(NULL, ERROR_NO_APPROVER, "%s", "nobody"), ==, -ENOLINK);
}

static void test_names(void) {
        static const struct {
                const char *name;
                int number;
        } cases[] = {
                { ERROR_INVALID_ARGUMENTS, -EINVAL }, { ERROR_NO_APPROVER, -ENOLINK }, { ERROR_DENIED, -EACCES },
                { ERROR_TIMED_OUT, -ETIMEDOUT },      { ERROR_IO, -EIO },              { ERROR_PREFIX "Unheard", -EIO },
                { "", -EIO },                         { NULL, -EIO },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(errors_to_errno(cases[i].name), ==, cases[i].number);
}

/* After registration sd-bus itself knows the numbers, so that one return carries name and errno through every layer. */
static void test_register(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        g_assert_cmpint(errors_register(), >=, 0);
        g_assert_cmpint(sd_bus_error_set(&error, ERROR_NO_APPROVER, "nobody"), ==, -ENOLINK);
        g_assert_cmpint(sd_bus_error_get_errno(&error), ==, ENOLINK);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(text_cases); i++) {
                g_autofree char *path = g_strdup_printf("/errors/text/%s", text_cases[i].id);

                g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_text);
        }
        g_test_add_func("/errors/long-text", test_long_text);
        g_test_add_func("/errors/without-reterr", test_without_reterr);
        g_test_add_func("/errors/names", test_names);
        g_test_add_func("/errors/register", test_register);
        return g_test_run();
}
