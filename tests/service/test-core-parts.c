/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "policy/core-call.h"
#include "policy/tool-name.h"
#include "service/core-builtin-table.h"
#include "service/core-operand.h"
#include "service/core-result.h"

static Jdoc *parse(const char *text) {
        Jdoc *doc = NULL;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        return doc;
}

/* ---- which tool is meant ---- */

static void test_find(void) {
        static const struct {
                const char *name, *input, *tool;
        } cases[] = {
                { "read", "{}", "read" },
                { "READ", "{}", "read" },
                { "read_file", "{}", "read" },
                { "File", "{\"action\":\"read\"}", "read" },
                { "file", "{\"action\":\"search_content\"}", "grep_files" },
                { "File", "{}", NULL },
                { "File", "{\"action\":\"patch\"}", NULL },
                { "write", "{}", "write_file" },
                { "edit", "{}", "edit_file" },
                { "bash", "{}", "shell" },
                { "Bash", "{\"action\":\"run\"}", "shell" },
                { "bash", "{\"action\":\"wait\"}", NULL },
                { "exec_shell", "{}", "shell" },
                { "web_fetch", "{}", "web_fetch" },
                { "nothing", "{}", NULL },
        };
        g_autoptr(CoreTools) tools = core_builtin_tools();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) input = parse(cases[i].input);
                const CoreTool *tool = core_tools_find(tools, cases[i].name, jdoc_root(input));

                g_test_message("%s %s", cases[i].name, cases[i].input);
                g_assert_cmpstr(tool ? tool->name : NULL, ==, cases[i].tool);
        }
}

/* X13: what runs without a question is a tool of ours that only reads. */
static void test_auto_names_only_read(void) {
        g_autoptr(CoreTools) tools = core_builtin_tools();

        for (const char *const *name = core_call_auto_names(); *name; name++) {
                const CoreTool *tool = core_tools_find(tools, *name, (Jval) {});

                g_assert_nonnull(tool);
                g_assert_cmpint(tool->requirement, ==, REQUIREMENT_AUTO);
                g_assert_cmpint(tool->capabilities, ==, 0);
                g_assert_cmpint(core_builtin_access(tool), ==, WORKSPACE_READ);
        }
        for (size_t i = 0; i < core_tools_count(tools); i++) {
                const CoreTool *tool = core_tools_get(tools, i);
                CoreCallClass class = core_call_classify(tool->name, (Jval) {}, tool->capabilities);

                g_assert_cmpint(class == CORE_CALL_AUTO_ELIGIBLE, ==,
                                core_builtin_access(tool) == WORKSPACE_READ && !core_builtin_is_web(tool));
                g_assert_cmpint(class == CORE_CALL_FORCED, ==, core_builtin_access(tool) == WORKSPACE_RUN || core_builtin_is_web(tool));
        }
}

static void test_read(void) {
        static const struct {
                const char *json, *error;
        } cases[] = {
                { "[]", NULL },
                { "[{\"name\":\"a.b-c_1\",\"requirement\":\"suggest\",\"capabilities\":[\"network\",\"writes\"],"
                  "\"input_schema\":{\"type\":\"object\"},\"description\":\"x\"}]", NULL },
                { "", ERROR_INVALID_ARGUMENTS },
                { "{}", ERROR_INVALID_ARGUMENTS },
                { "[1]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"1a\"}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\\u0000\"}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\"},{\"name\":\"A\"}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"description\":1}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"requirement\":\"none\"}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"capabilities\":\"network\"}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"capabilities\":[\"Network\"]}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"input_schema\":{\"type\":\"array\"}}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"input_schema\":{\"$ref\":\"https://example.invalid/\"}}]", ERROR_INVALID_ARGUMENTS },
                { "[{\"name\":\"a\",\"unknown\":1}]", ERROR_INVALID_ARGUMENTS },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autoptr(CoreTools) tools = NULL;

                g_test_message("%s", cases[i].json);
                (void) core_tools_read(cases[i].json, &tools, &error);
                g_assert_cmpstr(error.name, ==, cases[i].error);
                g_assert_cmpint(tools == NULL, ==, cases[i].error != NULL);
        }
}

/* ---- results ---- */

/* X15 */
static void test_shape(void) {
        static const struct {
                const char *answer, *result;
        } cases[] = {
                { "{\"content\":[]}", "{\"content\":[],\"is_error\":false}" },
                { "{}", "{\"content\":[],\"is_error\":false}" },
                { "{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"}],\"is_error\":true,\"path\":\"/tmp/x\"}",
                  "{\"content\":[{\"type\":\"text\",\"text\":\"a\\u0000b\"}],\"is_error\":true}" },
                { "{\"content\":[{\"type\":\"json\",\"value\":{\"n\": 9007199254740993}}]}",
                  "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":9007199254740993}\"}],\"is_error\":false,"
                  "\"structured\":{\"n\": 9007199254740993}}" },
                { "{\"content\":[{\"type\":\"json\",\"value\":[ 1.0e+05,\n\t\" \\\" \\\\\", { } ]}]}",
                  "{\"content\":[{\"type\":\"text\",\"text\":\"[1.0e+05,\\\" \\\\\\\" \\\\\\\\\\\",{}]\"}],\"is_error\":false,"
                  "\"structured\":[ 1.0e+05,\n\t\" \\\" \\\\\", { } ]}" },
                { "{\"content\":[{\"type\":\"image\",\"data\":\"AA\"}]}", "{\"content\":[],\"is_error\":false}" },
                { "{\"content\":[{\"type\":\"text\",\"text\":\"abc\"}],\"cut\":{\"original_bytes\":50,\"kept_bytes\":3}}",
                  "{\"content\":[{\"type\":\"text\",\"text\":\"abc\"},{\"type\":\"text\",\"text\":\"[The result was cut: 50 bytes, of which "
                  "3 are here.]\"}],\"is_error\":false}" },
                { "[]", NULL },
                { "{\"content\":{}}", NULL },
                { "{\"content\":[5]}", NULL },
                { "{\"is_error\":1}", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) answer = parse(cases[i].answer);
                g_autofree char *json = NULL, *reason = NULL;
                size_t size;

                g_test_message("%s", cases[i].answer);
                (void) core_result_shape(jdoc_root(answer), &json, &size, &reason);
                g_assert_cmpstr(json, ==, cases[i].result);
                g_assert_cmpint(reason == NULL, ==, json != NULL);
        }
}

/* X15: what is too long is cut between characters, with the counts. */
static void test_shape_cuts(void) {
        g_autofree char *long_text = g_malloc(3 * 200 * 1024 + 1), *text = NULL, *json = NULL, *reason = NULL;
        g_autoptr(Jdoc) answer = NULL, result = NULL;
        const char *kept;
        size_t size;

        for (size_t i = 0; i < 200 * 1024; i++)
                memcpy(long_text + 3 * i, "\u20ac", 3);
        long_text[3 * 200 * 1024] = '\0';
        text = g_strdup_printf("{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}", long_text);
        answer = parse(text);
        g_assert_cmpint(core_result_shape(jdoc_root(answer), &json, &size, &reason), ==, 0);
        result = parse(json);
        kept = jval_string(jval_member(jval_element(jval_member(jdoc_root(result), "content"), 0), "text"), &size);
        g_assert_cmpuint(size, <=, 256 * 1024);
        g_assert_cmpuint(size % 3, ==, 0);
        g_assert_true(g_utf8_validate(kept, (gssize) size, NULL));
        g_assert_nonnull(strstr(json, "614400 bytes"));
}

static void test_errors(void) {
        size_t size;
        g_autofree char *json = core_result_error("it \x1b[31mbroke", &size);

        g_assert_true(core_result_is_error(json, size));
        g_assert_null(strchr(json, '\x1b'));
        g_assert_false(core_result_is_error("{\"is_error\":false}", strlen("{\"is_error\":false}")));
}

/* ---- files that a call names ---- */

static void test_operand_names(void) {
        static const struct {
                const char *policy_name, *input, *names;
        } cases[] = {
                { "read_file", "{\"path\":\"a/./b.txt\"}", "a/b.txt" },
                { "read_file", "{\"path\":\"/w/a\"}", "a" },
                { "read_file", "{\"path\":\"../x\"}", "" },
                { "write_file", "{\"path\":\"a\",\"content\":\"b c\"}", "a" },
                { "read_file", "{\"edits\":[{\"path\":\"a\"},{\"more\":{\"file\":\"b\"}}],\"files\":[\"c\",\"./a\"]}", "a b c" },
                { "exec_shell", "{\"command\":\"sh ./job.sh -x /etc/passwd < in.txt\"}", "sh job.sh -x in.txt" },
                { "exec_shell", "{\"command\":\"cd x && ./a; b | c\"}", "cd x/cd x x/x a x/a b x/b c x/c" },
                { "exec_shell", "{\"command\":\"./a\",\"cwd\":\"sub\"}", "a sub/a" },
                { "exec_shell", "{\"command\":\"F=a --b=c @d -fe ~/g\"}", "F=a a --b=c c @d d -fe e" },
                { "exec_shell", "{\"command\":\"x -C y\",\"cwd\":\"/w/z\"}", "x z/x y/x z/y/x -C z/-C y/-C z/y/-C y z/y y/y z/y/y" },
                { "exec_shell", "{}", "" },
        };

        bool all;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) input = parse(cases[i].input);
                g_autoptr(GPtrArray) names = core_operand_names(cases[i].policy_name, "/w", jdoc_root(input), &all);
                g_autofree char *joined = NULL;

                g_assert_true(all);
                g_ptr_array_add(names, NULL);
                joined = g_strjoinv(" ", (char **) names->pdata);
                g_test_message("%s", cases[i].input);
                g_assert_cmpstr(joined, ==, cases[i].names);
        }
}

/* What an address may look like: nothing that two readers of it could take apart differently. */
static void test_web_addresses(void) {
        static const struct {
                const char *url;
                bool fits;
        } cases[] = {
                { "https://example.org", true },
                { "HTTPS://Example.org:8443/a/b?c=[1]&d=%20#e", true },
                { "http://127.0.0.1:1/", true },
                { "http://[::1]:80/x", true },
                { "https://example.org?q", true },
                { "https://example.org/a@b:c", true },
                { "https://xn--bcher-kva.example/", true },
                { "", false },
                { "example.org", false },
                { "//example.org", false },
                { "file:///etc/passwd", false },
                { "ftp://example.org/", false },
                { "httpss://example.org/", false },
                { "https:/example.org", false },
                { "https://", false },
                { "https:///x", false },
                { "https://user@example.org/", false },
                { "https://user:word@example.org/", false },
                { "https://a.example\\\\@b.example/", false },
                { "https://example.org/\\\\x", false },
                { "https://example.org:port/", false },
                { "https://example.org:/", false },
                { "https://example.org:123456/", false },
                { "https://[::1/", false },
                { "https://[fe80::1%25eth0]/", false },
                { "https://example.org/a b", false },
                { "https://example.org/\\n", false },
                { "https://example.org\\n", false },
                { "https://example.org/\\u0000", false },
                { "https://example.org/\u00e9", false },
                { "https://ex\u00e4mple.org/", false },
                { "https://example.org/<x>", false },
                { "https://example.org/{x}", false },
        };
        g_autoptr(CoreTools) tools = core_builtin_tools();
        const CoreTool *tool = core_tools_find(tools, "Fetch_URL", (Jval) {});

        g_assert_nonnull(tool);
        g_assert_true(core_builtin_is_web(tool));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *json = g_strdup_printf("{\"url\":\"%s\"}", cases[i].url);
                g_autoptr(Jdoc) doc = NULL;

                g_test_message("%s", json);
                g_assert_cmpint(jdoc_parse(json, strlen(json), NULL, &doc, NULL), ==, 0);
                g_assert_cmpint(schema_validate(tool->schema, jdoc_root(doc)) == SCHEMA_VALID, ==, cases[i].fits);
        }
        for (size_t i = 0; i < core_tools_count(tools); i++)
                g_assert_cmpint(core_builtin_is_web(core_tools_get(tools, i)), ==, core_tools_get(tools, i) == tool);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/core/find", test_find);
        g_test_add_func("/core/X13-auto-names-only-read", test_auto_names_only_read);
        g_test_add_func("/core/read", test_read);
        g_test_add_func("/core/X15-shape", test_shape);
        g_test_add_func("/core/X15-shape-cuts", test_shape_cuts);
        g_test_add_func("/core/errors", test_errors);
        g_test_add_func("/core/web-addresses", test_web_addresses);
        g_test_add_func("/core/operand-names", test_operand_names);
        return g_test_run();
}
