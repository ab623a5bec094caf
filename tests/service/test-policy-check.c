/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "service/policy-explain.h"
#include "service/policy-file.h"

static void test_kinds(void) {
        static const struct {
                const char *kind, *text;
                bool valid;
                const char *says; /* found in the report */
        } cases[] = {
                { "permissions", "", true, "\"entries\":0" },
                { "permissions", "[[rule]]\noutcome = \"deny\"\ntool = \"a\"\n", true, "\"entries\":1" },
                { "permissions", "[[rule]]\noutcome = \"allow\"\ntool = \"*\"\n", true, "\"severity\":\"warning\"" },
                { "permissions", "[[rule]]\noutcom = 1\n", false, "\"line\":2,\"column\":1,\"severity\":\"error\"" },
                { "permissions", "x = [\n", false, "this is not TOML: " },
                { "permissions", "[policy]\nposture = \"ask\"\n", false, "the default posture" },
                { "administrator", "[policy]\nposture = \"ask\"\n", true, "\"kind\":\"administrator\"" },
                { "law", "[[protect]]\npath = \"deploy\"\noutcome = \"ask\"\n", true, "\"entries\":1" },
                { "law", "[[protect]]\npath = \"deploy\"\noutcome = \"allow\"\n", false, "\"line\":3" },
                { "project", "[policy]\nposture = \"never\"\n", true, "\"entries\":1" },
                { "project", "[policy]\nposture = \"loose\"\n", false, "\"line\":2" },
                { "config", "[features]\nextension_host = true\n[core]\nweb_fetch = true\n", true, "\"entries\":2" },
                { "config", "[policy]\nposture = \"never\"\n[features]\nextension_host = 1\n", false, "\"line\":4,\"column\":18" },
                { "config", "[core]\nweb_fetch_private = [\"10.0.0.0/8\"]\n", true, "web_fetch_private does nothing while web_fetch is off" },
                { "config", "[core]\nweb_fetch_sec = 5\n", true, "web_fetch_sec does nothing while web_fetch is off" },
                { "config", "[plugins.a.config]\ndeep = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", true, "levels deep; the plugin can't get it" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *json = NULL;
                g_autoptr(Jdoc) doc = NULL;
                bool valid;

                g_assert_cmpint(policy_check(cases[i].kind, cases[i].text, strlen(cases[i].text), &json, NULL), ==, 0);
                g_test_message("%s: %s", cases[i].text, json);
                g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
                g_assert_cmpint(jval_boolean(jval_member(jdoc_root(doc), "valid"), &valid), ==, 0);
                g_assert_cmpint(valid, ==, cases[i].valid);
                g_assert_nonnull(strstr(json, cases[i].says));
        }
}

/* Of rules the library's own words may quote the text; of settings, which may hold secrets, nothing does. */
static void test_secrets(void) {
        static const char *const texts[] = {
                "[policy]\nposture = \"sk-1234\"\n", "token = sk-1234\n", "[plugins.a.config]\nt = \"sk-1234\nx\"\n", "[trust]\nconfirm = 'sk-1234",
                "[extension_host]\nnode = \"sk-1234\"\n", "[core]\nweb_fetch_private = [\"sk-1234\"]\n",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *json = NULL;

                g_assert_cmpint(policy_check("config", texts[i], strlen(texts[i]), &json, NULL), ==, 0);
                g_test_message("%s", json);
                g_assert_nonnull(strstr(json, "\"valid\":false"));
                g_assert_null(strstr(json, "1234"));
        }
}

static void test_unknown_kind(void) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        char *json = NULL;

        g_assert_cmpint(policy_check("rules", "", 0, &json, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_INVALID_OPTION);
        g_assert_null(json);
}

/* Mistakes outlive the text that they are about. */
static void test_file(void) {
        g_autoptr(PolicyFile) file = policy_file_new("a.toml");
        g_autofree char *text = g_strdup("\nfirst = 1\n  second = 2\n"), *words = NULL;

        g_assert_cmpint(policy_file_parse(file, text, strlen(text)), ==, 0);
        (void) policy_document_refuse(&file->document, jval_member(policy_file_root(file), "second"), "no second");
        (void) policy_document_refuse(&file->document, jval_member(policy_file_root(file), "first"), "no first");
        policy_file_forget(file);
        memset(text, 'x', strlen(text));
        g_assert_true(jval_is(policy_file_root(file), J_ABSENT));
        words = policy_document_words(&file->document);
        g_assert_cmpstr(words, ==, "a.toml:2:9: no first (1 more)");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/policy-check/kinds", test_kinds);
        g_test_add_func("/policy-check/settings-are-never-quoted", test_secrets);
        g_test_add_func("/policy-check/unknown-kind", test_unknown_kind);
        g_test_add_func("/policy-check/file", test_file);
        return g_test_run();
}
