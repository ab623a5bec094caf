/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "policy/auto-review.h"
#include "policy/command-path.h"
#include "policy/operand.h"
#include "test-json.h"

/* What must be found although it is hidden, by the words of a denied command. */
static void test_runs(void) {
        static const struct {
                const char *text;
                const char *prefix;
                bool expected;
        } cases[] = {
                { "rm -rf /", "rm", true },
                { "rm -rf /", "rm -rf", true },
                { "rm -f x", "rm -rf", false },
                { "echo rm -rf /", "rm", false },
                { "ls && rm -rf /", "rm", true },
                { "ls || rm x", "rm", true },
                { "ls; rm x", "rm", true },
                { "ls | rm x", "rm", true },
                { "ls & rm x", "rm", true },
                { "ls\nrm x", "rm", true },
                { "(rm x)", "rm", true },
                { "{ rm x; }", "rm", true },
                { "if true; then rm x; fi", "rm", true },
                { "! rm x", "rm", true },
                { "echo $(rm x)", "rm", true },
                { "echo \"a $(rm x) b\"", "rm", true },
                { "echo `rm x`", "rm", true },
                { "echo \"`rm x`\"", "rm", true },
                { "cat <(rm x)", "rm", true },
                { "echo $(echo $(rm x))", "rm", true },
                { "A=1 rm x", "rm", true },
                { "A=$(rm x) ls", "rm", true },
                { "sudo rm x", "rm", true },
                { "sudo -u root rm x", "rm", true },
                { "env A=b rm x", "rm", true },
                { "timeout 5 rm x", "rm", true },
                { "nohup nice -n 5 rm x", "rm", true },
                { "xargs -0 rm", "rm", true },
                { "find . -name x -exec rm {} +", "rm", true },
                { "bash -c 'rm x'", "rm", true },
                { "bash -c \"ls; rm x\"", "rm", true },
                { "sh -c 'sh -c \"rm x\"'", "rm", true },
                { "eval 'rm x'", "rm", true },
                { "/bin/rm x", "rm", true },
                { "\\rm x", "rm", true },
                { "r'm' x", "rm", true },
                { "\"rm\" x", "rm", true },
                { ">out rm x", "rm", true },
                { "2>/dev/null rm x", "rm", true },
                { "ls # rm x", "rm", false },
                { "ls 'a; rm x'", "rm", false },
                { "ls 'rm'", "rm", false },
                { "git push origin", "git push", true },
                { "git pull", "git push", false },
                { "/usr/local/bin/rm x", "/bin/rm", false },
                { "", "rm", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) command = command_parse(cases[i].text);
                g_auto(GStrv) prefix = g_strsplit(cases[i].prefix, " ", -1);

                g_test_message("%s: %s", cases[i].text, cases[i].prefix);
                g_assert_true(command_runs(command, prefix) == cases[i].expected);
        }
}

static void test_plain(void) {
        static const struct {
                const char *text;
                bool plain;
                const char *family;
        } cases[] = {
                { "ls -l", true, "ls" },
                { "git push origin main", true, "git push" },
                { "git -c a=b push", true, NULL },
                { "git", true, NULL },
                { "cargo test --all", true, "cargo test" },
                { "ls -l\n", true, "ls" },
                { "ls; ls", false, NULL },
                { "ls > out", false, NULL },
                { "ls 2>&1", false, NULL },
                { "ls $HOME", false, NULL },
                { "ls *", false, NULL },
                { "ls ~", false, NULL },
                { "ls {a,b}", false, NULL },
                { "A=1 ls", false, NULL },
                { "ls $(pwd)", false, NULL },
                { "ls 'a b'", true, "ls" },
                { "python3 x.py", true, NULL },
                { "bash x.sh", true, NULL },
                { "sudo ls", true, NULL },
                { "./ls", true, NULL },
                { "ls 'a", false, NULL },
                { "", false, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) command = command_parse(cases[i].text);
                g_autofree char *family = command_family(command);

                g_test_message("%s", cases[i].text);
                g_assert_true(command_is_plain(command) == cases[i].plain);
                g_assert_cmpstr(family, ==, cases[i].family);
        }
}

static void test_unclear(void) {
        static const struct {
                const char *text;
                bool expected;
        } cases[] = {
                { "ls", false },
                { "$X", true },
                { "r${EMPTY}m x", true },
                { "ls 'open", true },
                { "ls \"open", true },
                { "ls $(open", true },
                { "ls `open", true },
                { "ls \\", true },
                { "$'\\x72m' x", true },
                { "{rm,x}", true },
                { "cat << EOF\nrm\nEOF", true },
                { "/bin/r? x", true },
                { "echo $(echo $(echo $(echo $(echo $(rm)))))", true },
                { "ls $X", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) command = command_parse(cases[i].text);

                g_test_message("%s", cases[i].text);
                g_assert_true(command->unclear == cases[i].expected);
        }
}

/* Sizes that a caller chooses must not cost more than their length. */
static void test_bounds(void) {
        g_autoptr(GString) long_text = g_string_new(NULL);
        g_autoptr(Command) words = NULL, segments = NULL, large = NULL, nested = NULL;

        for (unsigned i = 0; i < 5000; i++)
                g_string_append(long_text, "a ");
        words = command_parse(long_text->str);
        g_assert_true(words->unclear);

        g_string_truncate(long_text, 0);
        for (unsigned i = 0; i < 200; i++)
                g_string_append(long_text, "a;");
        segments = command_parse(long_text->str);
        g_assert_true(segments->unclear);
        g_assert_cmpuint(segments->segments->len, <=, 128);

        g_string_truncate(long_text, 0);
        for (unsigned i = 0; i < 10000; i++)
                g_string_append(long_text, "$(");
        nested = command_parse(long_text->str);
        g_assert_true(nested->unclear);

        g_string_truncate(long_text, 0);
        for (unsigned i = 0; i < 40000; i++)
                g_string_append(long_text, "x");
        large = command_parse(long_text->str);
        g_assert_true(large->unclear);
}

/* Any bytes: never a crash, and never plain when there is an operator outside quotes. */
static void test_random(void) {
        static const char alphabet[] = "ab $`'\"\\;|&()<>{}#\n=*/-";
        GRand *random = g_rand_new_with_seed(20260101);

        for (unsigned round = 0; round < 20000; round++) {
                char text[64];
                size_t size = (size_t) g_rand_int_range(random, 0, sizeof text - 1);

                for (size_t i = 0; i < size; i++)
                        text[i] = alphabet[g_rand_int_range(random, 0, sizeof alphabet - 1)];
                text[size] = '\0';

                g_autoptr(Command) command = command_parse(text);
                g_autofree char *family = command_family(command);

                if (command_is_plain(command) && !strpbrk(text, "'\"\\#"))
                        g_assert_null(strpbrk(text, "$`;|&()<>"));
                g_assert_true(!family || command_is_plain(command));
        }
        g_rand_free(random);
}

static void test_read_only(void) {
        static const struct {
                const char *text;
                bool expected;
        } cases[] = {
                { "ls -l", true },
                { "git status", true },
                { "git log --oneline", true },
                { "git diff --output=x", false },
                { "git push", false },
                { "git -c core.pager=x log", false },
                { "cat a | tee b", false },
                { "cat a > b", false },
                { "find . -delete", false },
                { "python -c x", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) command = command_parse(cases[i].text);

                g_test_message("%s", cases[i].text);
                g_assert_true(auto_review_command_is_read_only(command) == cases[i].expected);
        }
}

static void test_review_floor(void) {
        static const struct {
                const char *text;
                ReviewFinding expected;
        } cases[] = {
                { "ls", REVIEW_SAFE },
                { "make", REVIEW_NOTHING },
                { "git push", REVIEW_PUBLISH },
                { "true && npm publish", REVIEW_PUBLISH },
                { "rm -rf /", REVIEW_DESTRUCTIVE },
                { "rm -r -f /", REVIEW_DESTRUCTIVE },
                { "sudo rm --recursive /", REVIEW_DESTRUCTIVE },
                { "rm -rf \"$HOME\"", REVIEW_DESTRUCTIVE },
                { "rm -rf build", REVIEW_NOTHING },
                { "rm /", REVIEW_NOTHING },
                { "mkfs.ext4 /dev/sda1", REVIEW_DESTRUCTIVE },
                { "dd if=x of=/dev/sda", REVIEW_DESTRUCTIVE },
                { "echo x > /dev/sda", REVIEW_DESTRUCTIVE },
                { "echo x > /dev/null", REVIEW_NOTHING },
                { "git push --force", REVIEW_DESTRUCTIVE },
                { "sh -c 'rm -rf /'", REVIEW_DESTRUCTIVE },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) command = command_parse(cases[i].text);
                const ReviewSubject subject = {
                        .policy_name = "exec_shell",
                        .category = CATEGORY_SHELL,
                        .command = command,
                };
                const char *why;

                g_test_message("%s", cases[i].text);
                g_assert_cmpstr(review_finding_to_string(auto_review_find(NULL, &subject, &why, NULL)), ==,
                                review_finding_to_string(cases[i].expected));
        }
}

static void test_paths(void) {
        static const struct {
                const char *path;
                const char *expected;
        } cases[] = {
                { "src/a.c", "src/a.c" },
                { "./src//a.c", "src/a.c" },
                { "src/../b", "b" },
                { "/w/s/b", "b" },
                { "/w/s", "." },
                { ".", "." },
                { "../x", NULL },
                { "/w/other", NULL },
                { "/w/s2/b", NULL },
                { "/etc/passwd", NULL },
                { "~/x", NULL },
                { "", NULL },
                { "a/../../x", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *relative = operand_relative("/w/s/", cases[i].path);

                g_test_message("%s", cases[i].path);
                g_assert_cmpstr(relative, ==, cases[i].expected);
        }
}

/* A name is found wherever it stands, each once, and that there are too many is told. */
static void test_operand_paths(void) {
        static const struct {
                const char *tool, *arguments, *paths;
        } cases[] = {
                { "edit_file", "{\"path\":\"a\",\"old_string\":\"path\"}", "a" },
                { "multi_edit", "{\"edits\":[{\"path\":\"a\"},{\"file\":\"b\"},{\"path\":\"a\"}]}", "a b" },
                { "move", "{\"source\":\"a\",\"destination\":\"b\",\"cwd\":\"c\"}", "a b c" },
                { "read_many", "{\"paths\":[\"a\",{\"path\":\"b\"},7],\"files\":[\"c\"]}", "a b c" },
                { "apply_patch", "{\"patch\":\"--- a/x\\n+++ b/x\\n*** Move to: y\\n\"}", "x y" },
                { "write_file", "{\"path\":7,\"content\":{\"text\":\"a\"}}", "" },
        };
        g_autoptr(GString) many = g_string_new("{\"paths\":[\"x\"");
        g_autoptr(Jdoc) large = NULL, same = NULL;
        bool all;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse_json(cases[i].arguments);
                g_autoptr(GPtrArray) paths = operand_paths(cases[i].tool, jdoc_root(doc), &all);
                g_autofree char *joined = NULL;

                g_ptr_array_add(paths, NULL);
                joined = g_strjoinv(" ", (char **) paths->pdata);
                g_assert_cmpstr(joined, ==, cases[i].paths);
                g_assert_true(all);
        }
        for (unsigned i = 1; i < OPERANDS_MAX; i++)
                g_string_append(many, ",\"x\"");
        same = parse_json(g_string_append(many, "]}")->str);
        g_ptr_array_unref(operand_paths("t", jdoc_root(same), &all));
        g_assert_true(all);

        g_string_truncate(many, many->len - 2);
        for (unsigned i = 0; i < OPERANDS_MAX; i++)
                g_string_append_printf(many, ",\"%u\"", i);
        large = parse_json(g_string_append(many, "]}")->str);
        g_ptr_array_unref(operand_paths("t", jdoc_root(large), &all));
        g_assert_false(all);
}

/* What a command names, also from where it goes and behind an option; a command that is not read to its end is told. */
static void test_command_paths(void) {
        static const struct {
                const char *command, *cwd, *paths;
                bool computed;
        } cases[] = {
                { "sh job.sh", NULL, "sh job.sh", false },
                { "cd sub && ./job.sh", NULL, "cd sub/cd sub sub/sub job.sh sub/job.sh", false },
                { "make -Csub all", NULL, "make sub/make -Csub sub/-Csub sub sub/sub all sub/all", false },
                { "sh -c 'cd sub; cat x'", NULL, NULL, false },
                { "cat /etc/passwd ../x ~/y", NULL, "cat", true },
                { "cat x", "/w/sub", "cat sub/cat x sub/x", false },
                { "cat x", "/elsewhere", "cat x", false },
                { "tar --file=x > y", NULL, "tar --file=x x y", false },
                { "F=x; sh $F", NULL, NULL, true },
                { "sh *.sh", NULL, "sh *.sh", true },
        };
        g_autofree char *words = g_strnfill(3000, ' '), *long_one = NULL;
        g_autoptr(Command) command = NULL;
        bool all;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Command) one = command_parse(cases[i].command);
                g_autoptr(GPtrArray) paths = command_paths(one, "/w", cases[i].cwd, &all);
                g_autofree char *joined = NULL;

                g_test_message("%s", cases[i].command);
                g_ptr_array_add(paths, NULL);
                joined = g_strjoinv(" ", (char **) paths->pdata);
                if (cases[i].paths)
                        g_assert_cmpstr(joined, ==, cases[i].paths);
                else
                        g_assert_nonnull(strstr(joined, "x"));
                g_assert_true(all);
                g_assert_true(command_is_computed(one) == cases[i].computed);
        }

        for (size_t i = 0; i < 3000; i += 2)
                words[i] = 'a';
        long_one = g_strconcat(": ", words, "; sh job.sh", NULL);
        command = command_parse(long_one);
        g_ptr_array_unref(command_paths(command, "/w", NULL, &all));
        g_assert_false(all);
}

static void test_glob(void) {
        static const struct {
                const char *pattern;
                const char *path;
                bool expected;
        } cases[] = {
                { "src/*.c", "src/a.c", true },
                { "src/*.c", "src/sub/a.c", false },
                { "src/**", "src/sub/a.c", true },
                { "src/**/a.c", "src/a.c", true },
                { "src/**/a.c", "src/x/y/a.c", true },
                { "src/**/a.c", "src/x/y/b.c", false },
                { "src", "src/x/y", true },
                { "src", "srcx", false },
                { ".env*", "deep/down/.env.local", true },
                { ".git", "sub/.git/config", true },
                { "*.pem", "keys/a.pem", true },
                { "a?c", "abc", true },
                { "a?c", "a/c", false },
                { "**", "anything/at/all", true },
                { "a*b*c*d", "aXbXcXcXd", true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s: %s", cases[i].pattern, cases[i].path);
                g_assert_true(operand_glob_match(cases[i].pattern, cases[i].path) == cases[i].expected);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/command/runs", test_runs);
        g_test_add_func("/command/plain-and-family", test_plain);
        g_test_add_func("/command/unclear", test_unclear);
        g_test_add_func("/command/bounds", test_bounds);
        g_test_add_func("/command/random", test_random);
        g_test_add_func("/auto-review/read-only", test_read_only);
        g_test_add_func("/auto-review/floor", test_review_floor);
        g_test_add_func("/operand/relative", test_paths);
        g_test_add_func("/operand/glob", test_glob);
        g_test_add_func("/operand/AP-01-C1-paths", test_operand_paths);
        g_test_add_func("/command/AP-01-C1-paths", test_command_paths);
        return g_test_run();
}
