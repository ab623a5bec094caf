/* SPDX-License-Identifier: MIT */

/* Times single operations of policy/, prompt/ and storage/, without a bus: reads a line, answers with one
 * line of JSON.
 *
 *     decision KIND     microseconds of one decision with 1,000 rules and 100 grants: "extension", "shell"
 * or "nested" snapshot          microseconds of one snapshot of 1,024 sections set DIRECTORY microseconds of
 * one set of 200 bytes, and of a plain replacement of the same file, in turns append DIRECTORY  microseconds
 * of one appended decision record */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "policy/decision.h"
#include "policy/rules.h"
#include "prompt/section-registry.h"
#include "storage/decision-log.h"
#include "storage/record-store.h"

#define RULES     1000
#define GRANTS    100
#define DECISIONS 4000
#define SECTIONS  1024
#define SNAPSHOTS 60
#define SETS      40
#define APPENDS   4000

static double now_usec(void) {
        struct timespec now;

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

static double median(double *times, size_t length) {
        qsort(times, length, sizeof *times, compare);
        return times[length / 2];
}

static Jdoc *parse(const char *json) {
        Jdoc *doc = NULL;

        if (jdoc_parse_copy(json, strlen(json), NULL, &doc, NULL) < 0)
                g_error("%s", json);
        return doc;
}

/* The shape with the number in place of its '#'. */
static char *fill_in(const char *shape, unsigned number) {
        g_auto(GStrv) parts = g_strsplit(shape, "#", -1);
        g_autofree char *digits = g_strdup_printf("%u", number);

        return g_strjoinv(digits, parts);
}

/* As a long-lived configuration may look: most rules name a tool, some a pattern, a command or a path. */
static RuleSet *make_rules(void) {
        g_autoptr(GString) json = g_string_new("{\"rule\":[");
        g_auto(PolicyDocument) document = { .file = "permissions.toml" };
        g_autoptr(Jdoc) doc = NULL;
        RuleSet *rules = rule_set_new();

        for (unsigned i = 0; i < RULES; i++) {
                static const char *const shapes[] = {
                        "\"tool\":\"tool_#\"",
                        "\"tool\":\"tool_#\"",
                        "\"tool\":\"tool_#\"",
                        "\"tool\":\"tool_#\"",
                        "\"tool\":\"tool_#\"",
                        "\"tool\":\"family#_*\"",
                        "\"tool\":\"*_#\"",
                        "\"plugin\":\"user.p#\"",
                        "\"tool\":\"exec_shell\",\"command\":\"prog#\"",
                        "\"path\":\"src/#/**\"",
                };
                g_autofree char *what = NULL;

                what = fill_in(shapes[i % G_N_ELEMENTS(shapes)], i);
                g_string_append_printf(json, "%s{\"outcome\":\"%s\",%s}", i > 0 ? "," : "",
                                i % 3 ? "ask" : "deny", what);
        }
        g_string_append(json, "]}");
        doc = parse(json->str);
        if (rule_set_load(rules, RULE_USER, jval_member(jdoc_root(doc), "rule"), (Jval) {}, &document) < 0)
                g_error("the rules can't be read");
        return rules;
}

static void give(GrantTable *grants, const ApprovalSubject *subject, Jval arguments, ApprovalKeys *keys) {
        GrantRequest request = { .session = "s1", .subject = subject, .keys = keys };
        uint64_t id;

        if (approval_keys_make(subject, arguments, keys) < 0 || grant_table_give(grants, &request, &id) < 0)
                g_error("no grant");
}

static void bench_decision(const char *kind) {
        static const BuildScope build = { .plugin = "user.counter",
                .content_hash = "0123456789abcdef0123456789abcdef" };
        bool extension = strcmp(kind, "extension") == 0;
        const ApprovalSubject subject = {
                .tool = extension                    ? "mod_counter"
                        : strcmp(kind, "shell") == 0 ? "exec_shell"
                                                     : "write_file",
                .build = extension ? &build : NULL,
                .called_from = strcmp(kind, "nested") == 0 ? &build : NULL,
        };
        g_autoptr(RuleSet) rules = make_rules();
        g_autoptr(GrantTable) grants = grant_table_new();
        g_autoptr(Jdoc) arguments =
                        parse("{\"label\":\"first\",\"path\":\"docs/a.md\",\"command\":\"make -j4 check\"}");
        g_auto(ApprovalKeys) keys = {};
        double times[DECISIONS];

        for (unsigned i = 0; i < GRANTS; i++) {
                g_autofree char *json = g_strdup_printf("{\"i\":%u}", i);
                g_autoptr(Jdoc) doc = parse(json);
                g_auto(ApprovalKeys) other = {};

                give(grants, &subject, jdoc_root(doc), &other);
        }
        give(grants, &subject, jdoc_root(arguments), &keys);

        const DecisionInput input = {
                .session = "s1",
                .workspace = "/home/user/work",
                .kind = extension ? TOOL_EXTENSION : TOOL_CORE,
                .tool = subject.tool,
                .plugin = extension ? build.plugin : NULL,
                .build = extension ? build.content_hash : NULL,
                .caller_plugin = subject.called_from ? build.plugin : NULL,
                .requirement = REQUIREMENT_REQUIRED,
                .arguments = jdoc_root(arguments),
                .rules = rules,
                .grants = grants,
                .keys = &keys,
                .now_usec = 1,
        };

        for (size_t i = 0; i < DECISIONS; i++) {
                g_auto(Decision) decision = {};
                double began = now_usec();

                decision_make(&input, &decision);
                times[i] = now_usec() - began;
                if (decision.verdict != VERDICT_ALLOW)
                        g_error("the grant did not answer");
        }
        printf("{\"us\":%.3f}\n", median(times, DECISIONS));
}

static void bench_snapshot(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        g_autofree char *text = g_strnfill(120, 'x');
        double times[SNAPSHOTS];
        uint64_t handle;

        for (unsigned i = 0; i < SECTIONS; i++) {
                g_autofree char *owner = g_strdup_printf("owner%u", i / 128),
                                *id = g_strdup_printf("s%u", i % 128);
                const SectionOwner whose = {
                        .owner = owner,
                        .plugin = "plugin",
                        .content_hash = "0123456789abcdef0123456789abcdef",
                        .entry = "m.mjs",
                };

                if (section_registry_add(registry, &whose, id, text, strlen(text), i % 2, &handle, NULL) <
                                                0 ||
                                section_registry_admit(registry, handle) < 0)
                        g_error("no section");
        }
        for (size_t i = 0; i < SNAPSHOTS; i++) {
                const SnapshotRequest request = { .model = "model", .cwd = "/home/user/work" };
                double began = now_usec();
                g_autoptr(PromptSnapshot) snapshot = prompt_snapshot_take(registry, &request);

                times[i] = now_usec() - began;
                if (snapshot->sections == 0)
                        g_error("an empty snapshot");
        }
        printf("{\"us\":%.3f}\n", median(times, SNAPSHOTS));
}

static int open_directory(const char *path) {
        int fd = safe_open_directory(path);

        if (fd < 0)
                g_error("%s: %s", path, g_strerror(-fd));
        return fd;
}

static void bench_set(const char *path) {
        _cleanup_close_ int directory = open_directory(path), folder = -EBADF;
        g_autoptr(RecordStore) store = NULL;
        g_autofree char *value = g_strnfill(200, '1');
        double sets[SETS], plains[SETS];

        if (record_store_open(directory, &store) < 0)
                g_error("no store");
        folder = safe_make_directory_at(directory, "plain", 0700);
        for (size_t i = 0; i < SETS; i++) {
                double began = now_usec(), middle;

                if (record_store_set(store, "k", 1, value, 200) < 0)
                        g_error("no set");
                middle = now_usec();
                if (safe_replace_at(folder, "k.json", value, 200, 0600) < 0)
                        g_error("no plain replacement");
                sets[i] = middle - began;
                plains[i] = now_usec() - middle;
        }
        printf("{\"us\":%.3f,\"plain_us\":%.3f}\n", median(sets, SETS), median(plains, SETS));
}

static void bench_append(const char *path) {
        static const DecisionRecord record = {
                .time_usec = 1700000000000000,
                .kind = "call",
                .call = "c-0123456789abcdef",
                .outcome = "allowed",
                .session = "s1",
                .plugin = "user.counter",
                .build = "0123456789abcdef0123456789abcdef",
                .generation = 1,
                .tool = "mod_counter",
                .who_unit = "agent.service",
                .who_exe = "/usr/bin/agent",
                .who_uid = 1000,
                .arguments_digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                .posture = "ask",
                .mode = "agent",
                .result = "ok",
                .trace_json = "[{\"layer\":\"baseline\",\"verdict\":\"ask\",\"source\":\"extension-tool\","
                              "\"why\":\"always\"}]",
        };
        _cleanup_close_ int directory = open_directory(path);
        g_autoptr(DecisionLog) log = NULL;
        double times[APPENDS];

        if (decision_log_open(directory, &log) < 0)
                g_error("no log");
        for (size_t i = 0; i < APPENDS; i++) {
                double began = now_usec();

                if (decision_log_append(log, &record) < 0)
                        g_error("no append");
                times[i] = now_usec() - began;
        }
        printf("{\"us\":%.3f}\n", median(times, APPENDS));
}

int main(void) {
        char line[4096], verb[16], argument[4000];

        while (fgets(line, sizeof line, stdin)) {
                argument[0] = '\0';
                if (sscanf(line, "%15s %3999s", verb, argument) < 1)
                        continue;
                if (strcmp(verb, "decision") == 0)
                        bench_decision(argument);
                else if (strcmp(verb, "snapshot") == 0)
                        bench_snapshot();
                else if (strcmp(verb, "set") == 0)
                        bench_set(argument);
                else if (strcmp(verb, "append") == 0)
                        bench_append(argument);
                else
                        g_error("unknown verb %s", verb);
                (void) fflush(stdout);
        }
        return 0;
}
