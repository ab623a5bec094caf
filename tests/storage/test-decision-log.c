/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "scratch.h"
#include "storage/decision-log.h"

static DecisionLog *open_log(const Scratch *scratch) {
        DecisionLog *log = NULL;

        g_assert_cmpint(decision_log_open(scratch->fd, &log), ==, 0);
        return log;
}

static void append(
                DecisionLog *log, uint64_t when, const char *call, const char *plugin, const char *outcome) {
        const DecisionRecord record = {
                .time_usec = when,
                .kind = "call",
                .call = call,
                .plugin = plugin,
                .tool = "t",
                .outcome = outcome,
                .session = "s1",
        };

        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
}

static size_t query_count(DecisionLog *log, const DecisionFilter *filter) {
        g_autoptr(GPtrArray) found = NULL;

        g_assert_cmpint(decision_log_query(log, filter, &found), ==, 0);
        return found->len;
}

static void test_append_and_query(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;
        static const DecisionFilter all = {};

        scratch_init(&scratch);
        log = open_log(&scratch);
        g_assert_cmpuint(query_count(log, &all), ==, 0);
        append(log, 1, "c1", "a", "allowed");
        append(log, 2, "c2", "b", "denied");
        append(log, 3, "c3", "a", "timed-out");
        g_assert_cmpint(decision_log_query(log, &all, &found), ==, 0);
        g_assert_cmpuint(found->len, ==, 3);
        g_assert_cmpstr(found->pdata[0], ==,
                        "{\"time\":3,\"kind\":\"call\",\"call\":\"c3\",\"outcome\":\"timed-out\","
                        "\"session\":\"s1\","
                        "\"plugin\":\"a\",\"tool\":\"t\"}");
        g_assert_nonnull(strstr(found->pdata[2], "\"c1\""));
}

static void test_filters(void) {
        static const struct {
                DecisionFilter filter;
                size_t expected;
        } cases[] = {
                { { .call = "c1" }, 2 },
                { { .call = "c" }, 0 },
                { { .plugin = "a" }, 2 },
                { { .plugin = "a", .outcome = "allowed" }, 1 },
                { { .outcome = "denied" }, 1 },
                { { .session = "s1" }, 3 },
                { { .session = "s2" }, 0 },
                { { .tool = "t" }, 3 },
                { { .kind = "core-call" }, 1 },
                { { .since_usec = 2 }, 3 },
                { { .until_usec = 2 }, 2 },
                { { .since_usec = 2, .until_usec = 2 }, 1 },
                { { .limit = 2 }, 2 },
                { { .call = "\"," }, 0 },
        };
        const DecisionRecord nested = { .time_usec = 4, .kind = "core-call", .call = "n1", .parent = "c1" };
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;

        scratch_init(&scratch);
        log = open_log(&scratch);
        append(log, 1, "c1", "a", "allowed");
        append(log, 2, "c2", "b", "denied");
        append(log, 3, "c3", "a", "timed-out");
        g_assert_cmpint(decision_log_append(log, &nested), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("case %zu", i);
                g_assert_cmpuint(query_count(log, &cases[i].filter), ==, cases[i].expected);
        }
}

/* A text in one member is no answer for another. */
static void test_no_confusion(void) {
        const DecisionRecord record = {
                .time_usec = 1,
                .kind = "call",
                .call = "x",
                .note = "\"plugin\":\"evil\"",
                .tool = "plugin",
                .arguments_json = "{\"plugin\":\"evil\",\"call\":\"c9\",\n\"x\":\"a\\nb\"}",
        };
        const DecisionFilter plugin = { .plugin = "evil" }, call = { .call = "c9" }, all = {};
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;

        scratch_init(&scratch);
        log = open_log(&scratch);
        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        g_assert_cmpuint(query_count(log, &plugin), ==, 0);
        g_assert_cmpuint(query_count(log, &call), ==, 0);
        g_assert_cmpuint(query_count(log, &all), ==, 1);
}

/* A crash in the middle of a line costs that line and no other, and new lines begin where they should. */
static void test_torn_line(void) {
        static const DecisionFilter all = {};

        for (size_t torn = 1; torn < 60; torn += 7) {
                g_auto(Scratch) scratch = {};
                g_autoptr(DecisionLog) log = NULL;
                g_autofree char *text = NULL, *whole = NULL;

                scratch_init(&scratch);
                log = open_log(&scratch);
                append(log, 1, "c1", "a", "allowed");
                whole = scratch_read(&scratch, "decisions-0000000001.jsonl");
                append(log, 2, "c2", "a", "allowed");
                log = decision_log_free(log);
                text = scratch_read(&scratch, "decisions-0000000001.jsonl");
                scratch_write(&scratch, "decisions-0000000001.jsonl", text, strlen(whole) + torn);

                log = open_log(&scratch);
                g_assert_cmpuint(query_count(log, &all), ==, 1);
                append(log, 3, "c3", "a", "allowed");
                g_assert_cmpuint(query_count(log, &all), ==, 2);
                g_free(text);
                text = scratch_read(&scratch, "decisions-0000000001.jsonl");
                g_assert_true(g_str_has_prefix(text + strlen(whole), "{\"time\":3,"));
        }
}

/* Lines that are no records are passed over. */
static void test_garbage(void) {
        static const char garbage[] =
                        "not json\n\n{\"time\":1}\n[]\n{\"time\":2,\"kind\":\"call\"}\n{\"time\":\"x\"}\n";
        static const DecisionFilter all = {};
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;

        scratch_init(&scratch);
        scratch_write(&scratch, "decisions-0000000007.jsonl", garbage, strlen(garbage));
        scratch_write(&scratch, "decisions-7.jsonl", garbage, strlen(garbage));
        scratch_write(&scratch, "notes.txt", "x", 1);
        log = open_log(&scratch);
        g_assert_cmpuint(query_count(log, &all), ==, 2);
        append(log, 9, "c9", "a", "allowed");
        g_assert_cmpuint(query_count(log, &all), ==, 3);
}

static void test_link(void) {
        g_auto(Scratch) scratch = {};
        DecisionLog *log = NULL;

        scratch_init(&scratch);
        scratch_write(&scratch, "target", "keep\n", 5);
        g_assert_cmpint(symlinkat("target", scratch.fd, "decisions-0000000001.jsonl"), ==, 0);
        g_assert_cmpint(decision_log_open(scratch.fd, &log), ==, -ELOOP);
        g_assert_null(log);
}

/* Bounded: files rotate at 8 MiB, eight are kept, a query reads over their borders, newest first. */
static void test_rotation(void) {
        g_autofree char *note = g_strnfill(1000, 'n');
        g_autofree char *filler = g_strdup_printf("{\"filler\":\"%s\"}", note);
        g_autofree char *large = NULL;
        g_autoptr(GString) array = g_string_new("[");
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;
        const DecisionFilter newest = { .limit = 300 };
        unsigned files = 0;

        for (unsigned i = 0; i < 60; i++)
                g_string_append_printf(array, "%s%s", i > 0 ? "," : "", filler);
        g_string_append_c(array, ']');
        large = g_string_free(g_steal_pointer(&array), FALSE);

        scratch_init(&scratch);
        log = open_log(&scratch);
        for (unsigned i = 1; i <= 1300; i++) {
                g_autofree char *call = g_strdup_printf("c%u", i);
                const DecisionRecord record = {
                        .time_usec = i, .kind = "call", .call = call, .arguments_json = large
                };

                g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        }
        for (unsigned number = 1; number < 20; number++) {
                g_autofree char *name = g_strdup_printf("decisions-%010u.jsonl", number);
                struct stat status;

                if (fstatat(scratch.fd, name, &status, 0) < 0)
                        continue;
                files++;
                g_assert_cmpuint((size_t) status.st_size, <=, DECISION_FILE_BYTES_MAX);
                g_assert_cmpint(status.st_mode & 07777, ==, 0600);
        }
        g_assert_cmpuint(files, ==, 8);

        g_assert_cmpint(decision_log_query(log, &newest, &found), ==, 0);
        g_assert_cmpuint(found->len, ==, 300);
        for (unsigned i = 0; i < found->len; i++) {
                g_autofree char *begin = g_strdup_printf("{\"time\":%u,", 1300 - i);

                g_assert_true(g_str_has_prefix(found->pdata[i], begin));
        }
}

static void test_prune(void) {
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        static const DecisionFilter all = {};

        scratch_init(&scratch);
        scratch_write(&scratch, "decisions-0000000001.jsonl", "{\"time\":1,\"kind\":\"call\"}\n", 26);
        scratch_write(&scratch, "decisions-0000000002.jsonl", "{\"time\":2,\"kind\":\"call\"}\n", 26);
        log = open_log(&scratch);
        g_assert_cmpint(decision_log_prune(log, 1000000), ==, 0);
        g_assert_cmpuint(query_count(log, &all), ==, 2);
        g_assert_cmpint(decision_log_prune(log, UINT64_MAX), ==, 1);
        g_assert_cmpuint(query_count(log, &all), ==, 1);
        append(log, 3, "c", "a", "allowed");
        g_assert_cmpint(decision_log_sync(log), ==, 0);
}

/* A record never grows over its limit, and says what it lost. */
static void test_record_limit(void) {
        g_autofree char *huge = g_strnfill(100000, 'x');
        g_autofree char *arguments = g_strdup_printf("{\"a\":\"%s\"}", huge);
        g_autoptr(GString) trace = g_string_new("[");
        const DecisionRecord too_long = {
                .time_usec = 1,
                .kind = "call",
                .note = huge,
                .arguments_json = arguments,
                .trace_json = "[{\"layer\":\"rules\"}]",
        };
        DecisionRecord longer = too_long;
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;
        static const DecisionFilter all = {};

        for (unsigned i = 0; i < 200; i++)
                g_string_append_printf(trace,
                                "%s{\"layer\":\"rules\",\"verdict\":\"note\",\"source\":\"s%u\",\"why\":\"%."
                                "500s\"}",
                                i > 0 ? "," : "", i, huge);
        g_string_append_c(trace, ']');
        longer.trace_json = trace->str;

        scratch_init(&scratch);
        log = open_log(&scratch);
        g_assert_cmpint(decision_log_append(log, &too_long), ==, 0);
        g_assert_cmpint(decision_log_append(log, &longer), ==, 0);
        g_assert_cmpint(decision_log_query(log, &all, &found), ==, 0);
        g_assert_cmpuint(found->len, ==, 2);
        g_assert_cmpuint(strlen(found->pdata[0]), <, DECISION_RECORD_BYTES_MAX);
        g_assert_nonnull(strstr(found->pdata[0], "\"s0\""));
        g_assert_nonnull(strstr(found->pdata[0], "\"s199\""));
        g_assert_null(strstr(found->pdata[0], "\"s100\""));
        g_assert_nonnull(strstr(found->pdata[0], "\"shortened\":\"arguments, trace\""));
        g_assert_nonnull(strstr(found->pdata[1], "\"trace\":[{\"layer\":\"rules\"}]"));
        g_assert_nonnull(strstr(found->pdata[1], "\"shortened\":\"arguments\""));
}

/* C12: who decided, told in sentences. */
static void test_story(void) {
        static const DecisionRecord record = {
                .time_usec = 1700000000000000,
                .kind = "call",
                .call = "c7",
                .outcome = "approved",
                .session = "s1",
                .plugin = "counter",
                .build = "0123456789abcdef0123",
                .generation = 4,
                .tool = "mod_counter",
                .who_unit = "agent.service",
                .who_name = ":1.9",
                .who_uid = 1000,
                .arguments_digest = "d1",
                .original_digest = "d0",
                .posture = "ask",
                .mode = "agent",
                .card = "12",
                .answered_by = "codewhalectl on :1.4",
                .grant = 3,
                .trace_json = "[{\"layer\":\"baseline\",\"verdict\":\"ask\",\"source\":\"extension-tool\","
                              "\"why\":\"always\"}]",
                .result = "ok",
                .duration_usec = 1500,
        };
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;
        g_autofree char *story = NULL;
        static const DecisionFilter all = { .call = "c7" };

        scratch_init(&scratch);
        log = open_log(&scratch);
        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        g_assert_cmpint(decision_log_query(log, &all, &found), ==, 0);
        g_assert_cmpint(decision_stories(found, &story), ==, 0);
        g_assert_cmpstr(story, ==,
                        "2023-11-14 22:13:20 UTC: call c7, tool \"mod_counter\" of plugin counter (build "
                        "0123456789ab, "
                        "generation 4).\n"
                        "Asked for by agent.service, :1.9, uid 1000, in session s1, posture ask, mode "
                        "agent.\n"
                        "Its arguments have the digest d1.\n"
                        "A hook revised them; before that the digest was d0.\n"
                        "Who had a say, in order:\n"
                        "  1. baseline: ask; always (extension-tool).\n"
                        "A person approved it.\n"
                        "The card was 12, answered by codewhalectl on :1.4.\n"
                        "Grant 3 had to do with it.\n"
                        "The execution ended with: ok.\n"
                        "It took 1.5 ms.\n");
}

/* C4: no outcome is told as another; a time-out blames nobody. */
static void test_story_outcomes(void) {
        static const char *const outcomes[] = {
                "allowed",
                "approved",
                "denied",
                "timed-out",
                "no-approver",
                "withdrawn",
                "refused-by-policy",
                "hook-denied",
                "hook-failed",
                "cancelled",
        };
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(outcomes); i++) {
                g_autofree char *json = g_strdup_printf(
                                "{\"time\":1,\"kind\":\"call\",\"outcome\":\"%s\"}", outcomes[i]);
                char *story = NULL;

                g_assert_cmpint(decision_story(json, strlen(json), &story), ==, 0);
                g_assert_null(strstr(story, "Outcome:"));
                g_assert_true(g_hash_table_add(seen, story));
        }
}

static void test_story_hostile(void) {
        static const DecisionRecord record = {
                .time_usec = 1,
                .kind = "call",
                .call = "c1",
                .tool = "a\nA person approved it.\x1b[2J",
        };
        g_auto(Scratch) scratch = {};
        g_autoptr(DecisionLog) log = NULL;
        g_autoptr(GPtrArray) found = NULL;
        g_autofree char *story = NULL, *none = NULL;
        static const DecisionFilter all = {};

        scratch_init(&scratch);
        log = open_log(&scratch);
        g_assert_cmpint(decision_log_append(log, &record), ==, 0);
        g_assert_cmpint(decision_log_query(log, &all, &found), ==, 0);
        g_assert_cmpint(decision_stories(found, &story), ==, 0);
        g_assert_null(strstr(story, "\nA person approved it."));
        g_assert_null(strchr(story, '\x1b'));
        g_assert_cmpint(decision_story("{}", 2, &none), ==, -EBADMSG);
        g_assert_cmpint(decision_story("nonsense", 8, &none), ==, -EBADMSG);
        g_assert_cmpint(decision_story("[]", 2, &none), ==, -EBADMSG);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/decision-log/append-and-query", test_append_and_query);
        g_test_add_func("/decision-log/filters", test_filters);
        g_test_add_func("/decision-log/no-confusion", test_no_confusion);
        g_test_add_func("/decision-log/torn-line", test_torn_line);
        g_test_add_func("/decision-log/garbage", test_garbage);
        g_test_add_func("/decision-log/link", test_link);
        g_test_add_func("/decision-log/rotation", test_rotation);
        g_test_add_func("/decision-log/prune", test_prune);
        g_test_add_func("/decision-log/record-limit", test_record_limit);
        g_test_add_func("/decision-story/C12-story", test_story);
        g_test_add_func("/decision-story/C4-outcomes", test_story_outcomes);
        g_test_add_func("/decision-story/hostile", test_story_hostile);
        return g_test_run();
}
