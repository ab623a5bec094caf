/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"

#define WORDS_MAX 8

typedef struct Parsed {
        const char *values[_OPTION_MAX];
        char **words;
        int n;
        char *error;
        int r;
} Parsed;

static Parsed *parse(const char *const *arguments) {
        Parsed *parsed = g_new0(Parsed, 1);
        char *argv[WORDS_MAX + 2] = { (char *) "codewhalectl" };
        int argc = 1;

        for (; arguments[argc - 1]; argc++)
                argv[argc] = (char *) arguments[argc - 1];
        parsed->r = options_parse(argc, argv, parsed->values, &parsed->words, &parsed->n, &parsed->error);
        return parsed;
}

static void parsed_free(Parsed *parsed) {
        g_free(parsed->words);
        g_free(parsed->error);
        g_free(parsed);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Parsed, parsed_free)

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_places(void) {
        g_autoptr(Parsed) before = parse(ARGS("--json", "show", "counter"));
        g_autoptr(Parsed) behind = parse(ARGS("show", "counter", "-j"));
        g_autoptr(Parsed) between = parse(ARGS("show", "--json", "counter"));
        Parsed *all[] = { before, behind, between };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
                g_assert_cmpint(all[i]->r, ==, 0);
                g_assert_nonnull(all[i]->values[OPTION_JSON]);
                g_assert_cmpint(all[i]->n, ==, 2);
                g_assert_cmpstr(all[i]->words[0], ==, "show");
                g_assert_cmpstr(all[i]->words[1], ==, "counter");
                g_assert_null(all[i]->words[2]);
        }
}

static void test_values(void) {
        g_autoptr(Parsed) attached = parse(ARGS("--timeout=5", "-n20", "log", "x"));
        g_autoptr(Parsed) next = parse(ARGS("--timeout", "5", "-fn", "20", "log", "x"));
        g_autoptr(Parsed) empty = parse(ARGS("--address=", "list"));
        g_autoptr(Parsed) last = parse(ARGS("--user", "--system", "list"));

        g_assert_cmpstr(attached->values[OPTION_TIMEOUT], ==, "5");
        g_assert_cmpstr(attached->values[OPTION_LINES], ==, "20");
        g_assert_cmpstr(next->values[OPTION_TIMEOUT], ==, "5");
        g_assert_cmpstr(next->values[OPTION_LINES], ==, "20");
        g_assert_nonnull(next->values[OPTION_FOLLOW]);
        g_assert_cmpstr(empty->values[OPTION_ADDRESS], ==, "");
        g_assert_null(last->values[OPTION_USER]);
        g_assert_nonnull(last->values[OPTION_SYSTEM]);
}

/* The text of a command is its own: nothing in it is an option of ours. */
static void test_literal(void) {
        g_autoptr(Parsed) text = parse(ARGS("run", "mod-count", "--json", "-x", "--"));
        g_autoptr(Parsed) dashes = parse(ARGS("call", "--", "-tool", "a=-1"));
        g_autoptr(Parsed) dash = parse(ARGS("call", "tool", "-"));
        g_autoptr(Parsed) option = parse(ARGS("run", "--json", "mod-count", "a"));

        g_assert_cmpint(text->r, ==, 0);
        g_assert_null(text->values[OPTION_JSON]);
        g_assert_cmpint(text->n, ==, 5);
        g_assert_cmpstr(text->words[4], ==, "--");
        g_assert_cmpint(dashes->r, ==, 0);
        g_assert_cmpstr(dashes->words[1], ==, "-tool");
        g_assert_cmpstr(dash->words[2], ==, "-");
        g_assert_nonnull(option->values[OPTION_JSON]);
        g_assert_cmpint(option->n, ==, 3);
}

static void test_refused(void) {
        static const struct {
                const char *arguments[4];
                const char *says;
        } cases[] = {
                { { "--josn", "list" }, "Did you mean --json?" },
                { { "--frobnicate", "list" }, "no option --frobnicate" },
                { { "-Z", "list" }, "no option -Z" },
                { { "list", "--timeout" }, "--timeout needs a value: --timeout=SECONDS" },
                { { "list", "--json=yes" }, "--json takes no value" },
                { { "list", "--watch" }, "--watch is not for list; it goes with: approve" },
                { { "--watch" }, "--watch is not for codewhalectl alone" },
                { { "show", "\xff\xfe" }, "not UTF-8" },
                { { "--\x1b[2Jx", "list" }, "no option --\\x1b[2Jx" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Parsed) parsed = parse(cases[i].arguments);

                g_test_message("%s", cases[i].says);
                g_assert_cmpint(parsed->r, ==, -EINVAL);
                g_assert_nonnull(strstr(parsed->error, cases[i].says));
                g_assert_null(parsed->words);
        }
}

static void test_numbers(void) {
        static const struct {
                const char *text;
                int r;
                guint64 value;
        } cases[] = {
                { NULL, 0, 50 },
                { "1", 0, 1 },
                { "1000", 0, 1000 },
                { "0", -EINVAL, 0 },
                { "1001", -EINVAL, 0 },
                { "-1", -EINVAL, 0 },
                { "1x", -EINVAL, 0 },
                { "", -EINVAL, 0 },
                { "99999999999999999999", -EINVAL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Cli cli = { .options[OPTION_LIMIT] = cases[i].text };
                g_autofree char *error = NULL;
                guint64 value = 7;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(option_number(&cli, OPTION_LIMIT, 1, 1000, 50, &value, &error), ==,
                                cases[i].r);
                g_assert_cmpuint(value, ==, cases[i].r < 0 ? 7 : cases[i].value);
                g_assert_true((error != NULL) == (cases[i].r < 0));
        }
}

static void test_timeout(void) {
        static const struct {
                const char *text;
                int r;
                guint64 usec;
        } cases[] = {
                { "30", 0, 30000000 },
                { "0.5", 0, 500000 },
                { "1e2", 0, 100000000 },
                { "0", -EINVAL, 0 },
                { "-3", -EINVAL, 0 },
                { "x", -EINVAL, 0 },
                { "", -EINVAL, 0 },
                { "5s", -EINVAL, 0 },
                { "inf", -EINVAL, 0 },
                { "nan", -EINVAL, 0 },
                { "1e300", -EINVAL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Cli cli = { .options[OPTION_TIMEOUT] = cases[i].text };
                g_autofree char *error = NULL;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(options_apply(&cli, false, &error), ==, cases[i].r);
                g_assert_cmpuint(cli.timeout_usec, ==, cases[i].usec);
        }
}

static void test_colour(void) {
        static const struct {
                const char *when, *no_color, *term;
                bool json, terminal, colour;
        } cases[] = {
                { NULL, NULL, "xterm", false, true, true },
                { NULL, NULL, "xterm", false, false, false },
                { NULL, "1", "xterm", false, true, false },
                { NULL, "", "xterm", false, true, true },
                { NULL, NULL, "dumb", false, true, false },
                { "always", "1", "xterm", false, false, true },
                { "never", NULL, "xterm", false, true, false },
                { "always", NULL, "xterm", true, true, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Cli cli = { .options[OPTION_COLOR] = cases[i].when,
                        .options[OPTION_JSON] = cases[i].json ? "" : NULL };
                g_autofree char *error = NULL;

                g_test_message("case %zu", i);
                if (cases[i].no_color)
                        g_setenv("NO_COLOR", cases[i].no_color, TRUE);
                else
                        g_unsetenv("NO_COLOR");
                g_setenv("TERM", cases[i].term, TRUE);
                g_assert_cmpint(options_apply(&cli, cases[i].terminal, &error), ==, 0);
                g_assert_true(cli.colour == cases[i].colour);
        }

        Cli wrong = { .options[OPTION_COLOR] = "sometimes" };
        g_autofree char *error = NULL;

        g_assert_cmpint(options_apply(&wrong, true, &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==, "--color takes auto, always or never.");
}

/* The table is read by position, and what it names exists. */
static void test_table(void) {
        const Option *options;
        size_t n;

        options = options_table(&n);
        g_assert_cmpuint(n, ==, _OPTION_MAX);
        for (size_t i = 0; i < n; i++) {
                g_auto(GStrv) verbs = g_strsplit(options[i].verbs ? options[i].verbs : "", " ", -1);

                g_assert_cmpint(options[i].id, ==, (int) i);
                g_assert_nonnull(options[i].help);
                for (char **verb = verbs; *verb; verb++) {
                        g_test_message("--%s of %s", options[i].name, *verb);
                        g_assert_nonnull(verb_find(*verb));
                }
                for (size_t j = 0; j < i; j++) {
                        g_assert_cmpstr(options[i].name, !=, options[j].name);
                        g_assert_true(options[i].letter == 0 || options[i].letter != options[j].letter);
                }
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cli/options/places", test_places);
        g_test_add_func("/cli/options/values", test_values);
        g_test_add_func("/cli/options/literal", test_literal);
        g_test_add_func("/cli/options/refused", test_refused);
        g_test_add_func("/cli/options/numbers", test_numbers);
        g_test_add_func("/cli/options/timeout", test_timeout);
        g_test_add_func("/cli/options/colour", test_colour);
        g_test_add_func("/cli/options/table", test_table);
        return g_test_run();
}
