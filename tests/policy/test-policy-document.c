/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "policy/policy-document.h"
#include "test-json.h"

static void test_words(void) {
        g_auto(PolicyDocument) document = { .file = "f.toml" };
        g_autofree char *none = policy_document_words(&document), *one = NULL, *two = NULL;

        g_assert_null(none);
        policy_document_warn(&document, (Jval){}, "only a %s", "warning");
        g_assert_null(policy_document_words(&document));
        g_assert_cmpint(document.error, ==, 0);
        g_assert_cmpint(policy_document_limit(&document, (Jval){}, "too much"), ==, -ENOBUFS);
        one = policy_document_words(&document);
        g_assert_cmpstr(one, ==, "f.toml: too much");
        g_assert_cmpint(policy_document_add(&document, 7, 0, "bad\nline"), ==, -EINVAL);
        two = policy_document_words(&document);
        g_assert_cmpstr(two, ==, "f.toml: too much (1 more)");
        g_assert_cmpint(document.error, ==, -ENOBUFS);
        g_assert_null(strchr(((PolicyMistake *) document.mistakes->pdata[2])->text, '\n'));
}

/* Places need a name and lines; without them nothing is made up. */
static void test_places(void) {
        static const char toml[] = "\n\na = 5\n";
        g_auto(PolicyDocument) document = {};
        g_autoptr(TomlLines) lines = NULL;
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *json = NULL, *nameless = NULL, *named = NULL, *whole = NULL;
        TomlError error;
        Jval a;

        g_assert_cmpint(toml_to_json_lines(toml, strlen(toml), &json, &lines, &error), ==, 0);
        doc = parse_json(json);
        a = jval_member(jdoc_root(doc), "a");
        nameless = policy_document_place(&document, a);
        g_assert_null(nameless);
        document.file = "f.toml";
        named = policy_document_place(&document, a);
        g_assert_cmpstr(named, ==, "f.toml");
        document.lines = lines;
        whole = policy_document_place(&document, a);
        g_assert_cmpstr(whole, ==, "f.toml:3");
        g_assert_cmpuint(policy_document_line(&document, (Jval){}, NULL), ==, 0);
}

/* Tables come in any order out of a file; people read it from the top. */
static void test_sort(void) {
        g_auto(PolicyDocument) document = {};

        policy_document_sort(&document);
        for (size_t line = 9; line > 0; line--)
                (void) policy_document_add(&document, line, 0, "x");
        policy_document_sort(&document);
        for (size_t i = 0; i < document.mistakes->len; i++)
                g_assert_cmpuint(((PolicyMistake *) document.mistakes->pdata[i])->line, ==, i + 1);
}

static void test_many(void) {
        g_auto(PolicyDocument) document = {};
        g_autofree char *words = NULL;

        for (unsigned i = 0; i < 1000; i++)
                (void) policy_document_refuse(&document, (Jval){}, "mistake %u", i);
        g_assert_cmpuint(document.mistakes->len, ==, POLICY_MISTAKES_MAX);
        words = policy_document_words(&document);
        g_assert_cmpstr(words, ==, "mistake 0 (999 more)");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/policy-document/words", test_words);
        g_test_add_func("/policy-document/places", test_places);
        g_test_add_func("/policy-document/sort", test_sort);
        g_test_add_func("/policy-document/many", test_many);
        return g_test_run();
}
