/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "policy/grant.h"
#include "test-json.h"

#define SEC UINT64_C(1000000)

static const BuildScope build_1 = { .plugin = "counter", .content_hash = "aaaa" };
static const BuildScope build_2 = { .plugin = "counter", .content_hash = "bbbb" };
static const BuildScope other = { .plugin = "greeting", .content_hash = "aaaa" };
static const BuildScope entry_1 = {
        .plugin = "counter",
        .content_hash = "aaaa",
        .entry = "a.mjs",
        .selection = "s1",
        .boot = "b1",
};

static void make(const ApprovalSubject *subject, const char *json, ApprovalKeys *ret) {
        g_autoptr(Jdoc) doc = parse_json(json);

        g_assert_cmpint(approval_keys_make(subject, jdoc_root(doc), ret), ==, 0);
}

/* O17, AP-10, C11: what makes the same key, and what does not. */
static void test_extension_keys(void) {
        static const struct {
                const char *id;
                ApprovalSubject a, b;
                const char *json_a, *json_b;
                bool same;
        } cases[] = {
                { "same", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":1}", "{\"x\":1}", true },
                { "key order", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":1,\"y\":2}",
                                "{\"y\":2,\"x\":1}", true },
                { "white space", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":1}", "{ \"x\" : 1 }", true },
                { "number by value", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":1}", "{\"x\":1.0}",
                                true },
                { "escapes", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":\"a\"}", "{\"x\":\"\\u0061\"}",
                                true },
                { "updated bytes", { "t", &build_1 }, { "t", &build_2 }, "{}", "{}", false },
                { "other plugin", { "t", &build_1 }, { "t", &other }, "{}", "{}", false },
                { "other tool", { "t", &build_1 }, { "u", &build_1 }, "{}", "{}", false },
                { "other input", { "t", &build_1 }, { "t", &build_1 }, "{\"target\":\"one\"}",
                                "{\"target\":\"two\"}", false },
                { "number or text", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":1}", "{\"x\":\"1\"}",
                                false },
                { "null or absent", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":null}", "{}", false },
                { "large numbers", { "t", &build_1 }, { "t", &build_1 }, "{\"x\":9007199254740993}",
                                "{\"x\":9007199254740992}", false },
                { "entry", { "t", &build_1 }, { "t", &entry_1 }, "{}", "{}", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(ApprovalKeys) a = {}, b = {};

                g_test_message("%s", cases[i].id);
                make(&cases[i].a, cases[i].json_a, &a);
                make(&cases[i].b, cases[i].json_b, &b);
                g_assert_true((strcmp(a.exact, b.exact) == 0) == cases[i].same);
                g_assert_cmpstr(a.exact, ==, a.grouping);
                g_assert_false(a.extension_origin);
        }
}

static void test_key_shapes(void) {
        static const struct {
                ApprovalSubject subject;
                const char *json;
                const char *exact; /* %s stands for the hash */
                const char *grouping;
        } cases[] = {
                { { "t", &build_1 }, "{}", "ext:counter@aaaa:t:%s", "ext:counter@aaaa:t:%s" },
                { { "t", &entry_1 }, "{}", "ext:counter@aaaa:a.mjs:s1:b1:t:%s",
                                "ext:counter@aaaa:a.mjs:s1:b1:t:%s" },
                { { "write_file" }, "{\"path\":\"a\"}", "file:write_file:%s", "file:write_file:%s" },
                { { "exec_shell" }, "{\"command\":\"git push origin\"}", "shell:exec_shell:%s",
                                "shell:git push" },
                { { "exec_shell" }, "{\"command\":\"git push; ls\"}", "shell:exec_shell:%s",
                                "shell:exec_shell:%s" },
                { { "exec_shell" }, "{\"command\":\"python3 a\"}", "shell:exec_shell:%s",
                                "shell:exec_shell:%s" },
                { { "fetch_url" }, "{\"url\":\"https://Example.org/x\"}", "net:example.org",
                                "net:example.org" },
                { { "fetch_url" }, "{\"url\":\"https://example.org:8443/x\"}", "net:example.org:8443",
                                "net:example.org:8443" },
                { { "fetch_url" }, "{\"url\":\"nonsense\"}", "tool:fetch_url:%s", "tool:fetch_url:%s" },
                { { "todo_write" }, "{}", "tool:todo_write:%s", "tool:todo_write:%s" },
                { { "todo_write", NULL, &build_1 }, "{}", "extcall:counter@aaaa:tool:todo_write:%s",
                                "extcall:counter@aaaa:tool:todo_write:%s" },
                { { "exec_shell", NULL, &build_1 }, "{\"command\":\"ls -l\"}",
                                "extcall:counter@aaaa:shell:exec_shell:%s",
                                "extcall:counter@aaaa:shell:ls" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(Jdoc) doc = parse_json(cases[i].json);
                g_autofree char *hash = arguments_hash(jdoc_root(doc));
                g_auto(GStrv) exact = g_strsplit(cases[i].exact, "%s", -1);
                g_auto(GStrv) grouping = g_strsplit(cases[i].grouping, "%s", -1);
                g_autofree char *expect_exact = g_strjoinv(hash, exact),
                                *expect_grouping = g_strjoinv(hash, grouping);
                g_auto(ApprovalKeys) keys = {};

                g_assert_cmpuint(strlen(hash), ==, 64); /* no two are found that share it */
                make(&cases[i].subject, cases[i].json, &keys);
                g_assert_cmpstr(keys.exact, ==, expect_exact);
                g_assert_cmpstr(keys.grouping, ==, expect_grouping);
                g_assert_true(keys.extension_origin == (cases[i].subject.called_from != NULL));
        }
}

/* A patch is grouped by the set of its files, whatever stands in it. */
static void test_patch_keys(void) {
        const ApprovalSubject subject = { .tool = "apply_patch" };
        g_auto(ApprovalKeys) a = {}, b = {}, c = {};

        make(&subject, "{\"patch\":\"*** Update File: x\\n+1\\n*** Add File: y\\n\"}", &a);
        make(&subject, "{\"patch\":\"*** Add File: y\\n+2\\n*** Update File: x\\n\"}", &b);
        make(&subject, "{\"patch\":\"*** Update File: x\\n+1\\n\"}", &c);
        g_assert_true(g_str_has_prefix(a.grouping, "patch:"));
        g_assert_cmpstr(a.grouping, ==, b.grouping);
        g_assert_cmpstr(a.exact, !=, b.exact);
        g_assert_cmpstr(a.grouping, !=, c.grouping);
}

/* Parts of a key can't run into each other. */
static void test_key_injection(void) {
        const BuildScope trick = { .plugin = "a@b:c", .content_hash = "d" },
                         plain = { .plugin = "a", .content_hash = "b:c" };
        const ApprovalSubject a = { "t", &trick }, b = { "t", &plain };
        const BuildScope half = { .plugin = "a", .content_hash = "b", .entry = "e" };
        const ApprovalSubject incomplete[] = {
                { "", &plain },
                { NULL, &plain },
                { "t", &half },
                { "t", &(BuildScope){ .plugin = "a" } },
        };
        g_autoptr(Jdoc) doc = parse_json("{}");
        g_auto(ApprovalKeys) left = {}, right = {}, none = {};

        make(&a, "{}", &left);
        make(&b, "{}", &right);
        g_assert_true(g_str_has_prefix(left.exact, "ext:a%40b%3ac@d:t:"));
        g_assert_cmpstr(left.exact, !=, right.exact);
        for (size_t i = 0; i < G_N_ELEMENTS(incomplete); i++)
                g_assert_cmpint(approval_keys_make(&incomplete[i], jdoc_root(doc), &none), ==, -EINVAL);
        g_assert_null(none.exact);
}

/* X14: no key of the model is one of an extension, nor of two builds, nor of two plugins, in any direction.
 */
static void test_isolation(void) {
        static const ApprovalSubject subjects[] = {
                { "todo_write" },
                { "todo_write", NULL, &build_1 },
                { "todo_write", NULL, &build_2 },
                { "todo_write", NULL, &other },
                { "todo_write", &build_1 },
                { "todo_write", &build_2 },
                { "todo_write", &other },
        };
        g_autoptr(GrantTable) table = grant_table_new();
        ApprovalKeys keys[G_N_ELEMENTS(subjects)] = {};

        for (size_t i = 0; i < G_N_ELEMENTS(subjects); i++)
                make(&subjects[i], "{\"a\":1}", &keys[i]);

        for (size_t i = 0; i < G_N_ELEMENTS(subjects); i++)
                for (GrantWidth width = 0; width < _GRANT_WIDTH_MAX; width++) {
                        const GrantRequest request = {
                                .session = "s",
                                .subject = &subjects[i],
                                .keys = &keys[i],
                                .width = width,
                        };
                        uint64_t id;

                        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
                        for (size_t k = 0; k < G_N_ELEMENTS(subjects); k++)
                                g_assert_true((grant_table_find(table, "s", &keys[k], 1) != NULL) ==
                                                (i == k));
                        g_assert_cmpint(grant_table_revoke(table, id), ==, 0);
                }
        for (size_t i = 0; i < G_N_ELEMENTS(subjects); i++)
                approval_keys_done(&keys[i]);
}

static void test_life(void) {
        g_autoptr(GrantTable) table = grant_table_new();
        const ApprovalSubject subject = { "t", &build_1 };
        g_auto(ApprovalKeys) one = {}, two = {};
        GrantRequest request = {
                .session = "s", .subject = &subject, .keys = &one, .giver = "somebody", .now_usec = SEC
        };
        uint64_t id, again;

        make(&subject, "{\"target\":\"one\"}", &one);
        make(&subject, "{\"target\":\"two\"}", &two);
        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
        g_assert_cmpuint(grant_table_find(table, "s", &one, SEC)->id, ==, id);
        g_assert_null(grant_table_find(table, "s", &two, SEC));
        g_assert_null(grant_table_find(table, "other", &one, SEC));

        /* Renewed with an end: from then on it never answers, also before anybody swept. */
        request.seconds = 10;
        g_assert_cmpint(grant_table_give(table, &request, &again), ==, 0);
        g_assert_cmpuint(again, ==, id);
        g_assert_nonnull(grant_table_find(table, "s", &one, 11 * SEC - 1));
        g_assert_null(grant_table_find(table, "s", &one, 11 * SEC));
        g_assert_cmpuint(grant_table_expire(table, 2 * SEC), ==, 11 * SEC);
        g_assert_nonnull(grant_table_get(table, id));
        g_assert_cmpuint(grant_table_expire(table, 11 * SEC), ==, 0);
        g_assert_null(grant_table_get(table, id));
        g_assert_cmpint(grant_table_revoke(table, id), ==, -ENOENT);

        /* Any arguments, when that was said explicitly. */
        request = (GrantRequest){ .session = "s", .subject = &subject, .keys = &one, .width = GRANT_TOOL };
        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
        g_assert_nonnull(grant_table_find(table, "s", &two, 1));
        g_assert_cmpint(grant_table_revoke(table, id), ==, 0);
        g_assert_null(grant_table_find(table, "s", &two, 1));
}

static void test_removal(void) {
        g_autoptr(GrantTable) table = grant_table_new();
        const ApprovalSubject a = { "t", &build_1 }, b = { "t", &other };
        g_auto(ApprovalKeys) key_a = {}, key_b = {};
        GrantRequest request = { .session = "s1", .subject = &a, .keys = &key_a };
        g_autoptr(GPtrArray) list = NULL;
        uint64_t id;

        make(&a, "{}", &key_a);
        make(&b, "{}", &key_b);
        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
        request.session = "s2";
        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
        request.subject = &b;
        request.keys = &key_b;
        g_assert_cmpint(grant_table_give(table, &request, &id), ==, 0);
        g_assert_cmpint(grant_table_deny(table, "s1", &key_b), ==, 0);
        g_assert_cmpint(grant_table_deny(table, "s2", &key_b), ==, 0);

        list = grant_table_list(table);
        g_assert_cmpuint(list->len, ==, 3);
        g_assert_cmpuint(((Grant *) list->pdata[0])->id, ==, 1);
        g_assert_cmpuint(grant_table_remove_session(table, "s1"), ==, 1);
        g_assert_false(grant_table_is_denied(table, "s1", &key_b));
        g_assert_true(grant_table_is_denied(table, "s2", &key_b));
        g_assert_null(grant_table_find(table, "s1", &key_a, 1));
        g_assert_nonnull(grant_table_find(table, "s2", &key_a, 1));
        g_assert_cmpuint(grant_table_remove_plugin(table, "counter"), ==, 1);
        g_assert_null(grant_table_find(table, "s2", &key_a, 1));
        g_assert_nonnull(grant_table_find(table, "s2", &key_b, 1));
}

static void test_limits(void) {
        g_autoptr(GrantTable) table = grant_table_new();
        const ApprovalSubject subject = { "t", &build_1 };
        uint64_t id;

        for (unsigned i = 0; i <= 4096; i++) {
                g_autofree char *json = g_strdup_printf("{\"i\":%u}", i);
                g_auto(ApprovalKeys) keys = {};
                GrantRequest request = { .session = "s", .subject = &subject, .keys = &keys };

                make(&subject, json, &keys);
                g_assert_cmpint(grant_table_give(table, &request, &id), ==, i < 4096 ? 0 : -ENOBUFS);
                g_assert_cmpint(grant_table_deny(table, "s", &keys), ==, i < 4096 ? 0 : -ENOBUFS);
        }
}

/* C5: the scope is said before it is given. */
static void test_words(void) {
        static const struct {
                ApprovalSubject subject;
                const char *json;
                GrantWidth width;
                uint64_t seconds;
                const char *expected;
        } cases[] = {
                { { "t", &build_1 }, "{}", GRANT_ARGUMENTS, 0,
                                "tool \"t\" of plugin counter (build aaaa), with exactly these arguments, "
                                "in this session only" },
                { { "t", &build_1 }, "{}", GRANT_TOOL, 60,
                                "tool \"t\" of plugin counter (build aaaa), with any arguments, in this "
                                "session only and for 60 s at most" },
                { { "exec_shell" }, "{\"command\":\"git push\"}", GRANT_ARGUMENTS, 0,
                                "tool \"exec_shell\", commands that begin with \"git push\", in this "
                                "session only" },
                { { "fetch_url" }, "{\"url\":\"http://a.b/\"}", GRANT_ARGUMENTS, 0,
                                "tool \"fetch_url\", anything at a.b, in this session only" },
                { { "write_file", NULL, &build_1 }, "{}", GRANT_ARGUMENTS, 0,
                                "tool \"write_file\", with exactly these arguments, when called by tools of "
                                "plugin counter (build aaaa), "
                                "in this session only" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(ApprovalKeys) keys = {};
                g_autofree char *words = NULL;

                make(&cases[i].subject, cases[i].json, &keys);
                words = grant_words(&cases[i].subject, &keys, cases[i].width, cases[i].seconds);
                g_assert_cmpstr(words, ==, cases[i].expected);
        }
}

/* Property: the order of members never changes a key, at any depth. */
static void test_permutations(void) {
        GRand *random = g_rand_new_with_seed(11);
        const ApprovalSubject subject = { "t", &build_1 };

        for (unsigned round = 0; round < 300; round++) {
                g_autoptr(GPtrArray) members = g_ptr_array_new_with_free_func(g_free);
                g_autofree char *before = NULL;

                for (int i = 0; i < 8; i++)
                        g_ptr_array_add(members, g_strdup_printf("\"m%d\":{\"a\":%d,\"b\":[%d,null]}", i,
                                                                 g_rand_int_range(random, 0, 3),
                                                                 g_rand_int_range(random, 0, 3)));
                for (unsigned turn = 0; turn < 5; turn++) {
                        g_autofree char *body = NULL, *json = NULL;
                        g_auto(ApprovalKeys) keys = {};

                        for (guint i = members->len - 1; i > 0; i--) {
                                guint k = (guint) g_rand_int_range(random, 0, (gint32) i + 1);
                                void *swap = members->pdata[i];

                                members->pdata[i] = members->pdata[k];
                                members->pdata[k] = swap;
                        }
                        g_ptr_array_add(members, NULL);
                        body = g_strjoinv(",", (char **) members->pdata);
                        g_ptr_array_remove_index(members, members->len - 1);
                        json = g_strdup_printf("{%s}", body);
                        make(&subject, json, &keys);
                        if (before)
                                g_assert_cmpstr(keys.exact, ==, before);
                        else
                                before = g_strdup(keys.exact);
                }
        }
        g_rand_free(random);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/grant/O17-AP-10-C11-extension-keys", test_extension_keys);
        g_test_add_func("/grant/O17-key-shapes", test_key_shapes);
        g_test_add_func("/grant/patch-keys", test_patch_keys);
        g_test_add_func("/grant/key-injection", test_key_injection);
        g_test_add_func("/grant/X14-isolation", test_isolation);
        g_test_add_func("/grant/AP-09-life", test_life);
        g_test_add_func("/grant/removal", test_removal);
        g_test_add_func("/grant/limits", test_limits);
        g_test_add_func("/grant/C5-words", test_words);
        g_test_add_func("/grant/O17-permuted-members", test_permutations);
        return g_test_run();
}
