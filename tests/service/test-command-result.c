/* SPDX-License-Identifier: MIT */

/* What a command may answer, and what becomes of it (contract 4.2). */

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "service/command-result.h"

#define NOTE "\n[cut: the command's text was longer than 64 KiB]"

/* The JSON that the caller gets, or NULL with @ret_reason. */
static char *shape(const char *text, const char **ret_reason) {
        g_autoptr(Jdoc) doc = NULL;
        char *json = NULL;
        size_t size = 0;
        int r;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        r = command_result_shape("k-1", jdoc_root(doc), &json, &size, ret_reason);
        g_assert_cmpint(r, ==, json ? 0 : -EBADMSG);
        g_assert_cmpuint(size, ==, json ? strlen(json) : 0);
        return json;
}

static const struct {
        const char *given, *expected; /* JSON, or what the refusal says */
        bool taken;
} cases[] = {
        { "{\"kind\":\"success\"}", "{\"command_id\":\"k-1\",\"kind\":\"success\"}", true },
        { "{\"kind\":\"success\",\"text\":\"a\\nb\"}", "{\"command_id\":\"k-1\",\"kind\":\"success\",\"text\":\"a\\nb\"}", true },
        { "{\"kind\":\"error\",\"text\":\"no\"}", "{\"command_id\":\"k-1\",\"kind\":\"error\",\"text\":\"no\"}", true },
        { "{\"kind\":\"submit\",\"prompt\":\"do it\",\"text\":\"t\"}",
          "{\"command_id\":\"k-1\",\"kind\":\"submit\",\"text\":\"t\",\"prompt\":\"do it\"}", true },
        { "{\"kind\":\"success\",\"text\":\"\\u001b[31mred\\u001b[0m\\u0007\"}",
          "{\"command_id\":\"k-1\",\"kind\":\"success\",\"text\":\"red\"}", true },
        { "{\"kind\":\"submit\",\"prompt\":\"\\u001b]0;title\\u0007do\\u001b[2J it\"}",
          "{\"command_id\":\"k-1\",\"kind\":\"submit\",\"prompt\":\"do it\"}", true },
        { "{\"kind\":\"other\",\"text\":\"t\"}", "has not the shape", false },
        { "{\"kind\":\"success\",\"text\":1}", "has not the shape", false },
        { "{\"kind\":\"success\",\"more\":\"t\"}", "has not the shape", false },
        { "{\"text\":\"t\"}", "has not the shape", false },
        { "\"text\"", "has not the shape", false },
        { "{\"kind\":\"error\"}", "without a text", false },
        { "{\"kind\":\"submit\",\"text\":\"t\"}", "submits no prompt", false },
        { "{\"kind\":\"success\",\"text\":\"t\",\"prompt\":\"p\"}", "does not submit it", false },
        { "{\"kind\":\"submit\",\"prompt\":\"\"}", "blank prompt", false },
        { "{\"kind\":\"submit\",\"prompt\":\" \\n\\t\"}", "blank prompt", false },
        { "{\"kind\":\"submit\",\"prompt\":\"\\u001b[1m \\u001b[0m\"}", "blank prompt", false },
};

static void test_results(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const char *reason = NULL;
                g_autofree char *json = shape(cases[i].given, &reason);

                g_test_message("%s: %s", cases[i].given, json ?: reason);
                if (cases[i].taken)
                        g_assert_cmpstr(json, ==, cases[i].expected);
                else
                        g_assert_nonnull(strstr(reason, cases[i].expected));
        }
}

/* A result of @kind whose @member has @size bytes: the last of them a character of two bytes when @wide */
static char *result_of(const char *kind, const char *member, size_t size, bool wide) {
        g_autofree char *filler = g_strnfill(wide ? size - 2 : size, 'x');

        return g_strdup_printf("{\"kind\":\"%s\",\"%s\":\"%s%s\"}", kind, member, filler, wide ? "é" : "");
}

static char *text_of(const char *json, const char *member) {
        g_autoptr(Jdoc) doc = NULL;

        g_assert_nonnull(json);
        g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
        return g_strdup(jval_text(jval_member(jdoc_root(doc), member)));
}

static void test_long_text(void) {
        static const struct {
                size_t size;
                bool wide;
                size_t kept; /* of it, before the note */
        } sizes[] = {
                { COMMAND_TEXT_BYTES_MAX, false, COMMAND_TEXT_BYTES_MAX },
                { COMMAND_TEXT_BYTES_MAX, true, COMMAND_TEXT_BYTES_MAX },
                { COMMAND_TEXT_BYTES_MAX + 1, false, COMMAND_TEXT_BYTES_MAX },
                { COMMAND_TEXT_BYTES_MAX + 1, true, COMMAND_TEXT_BYTES_MAX - 1 }, /* not half of the last one */
        };

        for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
                g_autofree char *given = result_of(i % 2 ? "error" : "success", "text", sizes[i].size, sizes[i].wide);
                const char *reason = NULL;
                g_autofree char *json = shape(given, &reason), *text = text_of(json, "text");
                bool cut = sizes[i].size > COMMAND_TEXT_BYTES_MAX;

                g_assert_true(g_str_has_suffix(text, NOTE) == cut);
                g_assert_true(g_utf8_validate(text, -1, NULL));
                g_assert_cmpuint(strlen(text), ==, sizes[i].kept + (cut ? strlen(NOTE) : 0));
        }
}

static void test_long_prompt(void) {
        g_autofree char *fits = result_of("submit", "prompt", COMMAND_PROMPT_BYTES_MAX, false), *taken = NULL, *prompt = NULL;
        g_autofree char *longer = result_of("submit", "prompt", COMMAND_PROMPT_BYTES_MAX + 1, false), *refused = NULL;
        const char *reason = NULL;

        taken = shape(fits, &reason);
        prompt = text_of(taken, "prompt");
        g_assert_cmpuint(strlen(prompt), ==, COMMAND_PROMPT_BYTES_MAX);
        refused = shape(longer, &reason);
        g_assert_null(refused);
        g_assert_nonnull(strstr(reason, "128 KiB"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/command-result/C06-results", test_results);
        g_test_add_func("/command-result/C06-text-is-cut", test_long_text);
        g_test_add_func("/command-result/C06-prompt-is-refused", test_long_prompt);
        return g_test_run();
}
