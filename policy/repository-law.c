/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "policy/operand.h"
#include "policy/repository-law.h"
#include "policy/wildcard.h"

typedef struct LawEntry {
        bool is_path; /* else the pattern is a tool's */
        Verdict verdict;
        char *pattern;
        char *why;
} LawEntry;

struct RepositoryLaw {
        GPtrArray *entries; /* LawEntry */
        bool unreadable;
};

static void entry_free(void *data) {
        LawEntry *entry = data;

        g_free(entry->pattern);
        g_free(entry->why);
        g_free(entry);
}

RepositoryLaw *repository_law_new(void) {
        RepositoryLaw *law = g_new0(RepositoryLaw, 1);

        law->entries = g_ptr_array_new_with_free_func(entry_free);
        return law;
}

RepositoryLaw *repository_law_free(RepositoryLaw *law) {
        if (!law)
                return NULL;

        g_ptr_array_unref(law->entries);
        g_free(law);
        return NULL;
}

void repository_law_set_unreadable(RepositoryLaw *law) {
        law->unreadable = true;
}

/* ---- reading ---- */

static int refuse(sd_bus_error *reterr, const char *list, size_t index, const char *what) {
        (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s %zu: %s.", list, index, what);
        return -EINVAL;
}

static int load_entry(GPtrArray *entries, const char *list, size_t index, Jval value, sd_bus_error *reterr) {
        bool is_path = strcmp(list, "protect") == 0;
        Jval pattern = jval_member(value, is_path ? "path" : "tool");
        Jval outcome = jval_member(value, "outcome"), why = jval_member(value, "why");
        const char *text = jval_text(pattern);
        size_t known = 1 + !jval_is(outcome, J_ABSENT) + !jval_is(why, J_ABSENT);
        LawEntry *entry;

        if (!text || *text == '\0' || strlen(text) > RULE_PATTERN_BYTES_MAX)
                return refuse(reterr, list, index, is_path ? "it needs a \"path\"" : "it needs a \"tool\"");
        if (jval_length(value) != known)
                return refuse(reterr, list, index, "it has an unknown member");
        if (!jval_is(outcome, J_ABSENT) && !jval_equals_text(outcome, "ask") &&
                        !jval_equals_text(outcome, "block"))
                return refuse(reterr, list, index,
                                "\"outcome\" must be \"ask\" or \"block\"; a project can't allow");
        if (!jval_is(why, J_ABSENT) && !jval_text(why))
                return refuse(reterr, list, index, "\"why\" must be a text");

        entry = g_new0(LawEntry, 1);
        entry->is_path = is_path;
        entry->verdict = jval_equals_text(outcome, "ask") ? VERDICT_ASK : VERDICT_DENY;
        entry->pattern = g_strdup(text);
        entry->why = g_strdup(jval_text(why));
        g_ptr_array_add(entries, entry);
        return 0;
}

static int load_list(GPtrArray *entries, const char *list, Jval value, sd_bus_error *reterr) {
        JIter iter = jval_iterate(value);
        size_t index = 0;
        Jval key, item;
        int r = 0;

        if (!jval_is(value, J_ARRAY))
                return refuse(reterr, list, 0, "must be a list of tables");
        if (entries->len + jval_length(value) > LAW_ENTRIES_MAX) {
                (void) errors_set(reterr, ERROR_LIMIT_EXCEEDED, "A workspace may have at most %u entries.",
                                LAW_ENTRIES_MAX);
                return -ENOBUFS;
        }
        while (r >= 0 && jiter_next(&iter, &key, &item))
                r = load_entry(entries, list, ++index, item, reterr);
        return r;
}

int repository_law_load(RepositoryLaw *law, Jval document, sd_bus_error *reterr) {
        g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(entry_free);
        JIter iter = jval_iterate(document);
        Jval key, item;
        int r = jval_is(document, J_OBJECT) ? 0 : refuse(reterr, "law", 0, "the document must be a table");

        while (r >= 0 && jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "protect"))
                        r = load_list(entries, "protect", item, reterr);
                else if (jval_equals_text(key, "tools"))
                        r = load_list(entries, "tools", item, reterr);
                else
                        r = refuse(reterr, "law", 0, "only \"protect\" and \"tools\" are known");
        }
        if (r < 0)
                return r;
        if (entries->len + law->entries->len > LAW_ENTRIES_MAX) {
                (void) errors_set(reterr, ERROR_LIMIT_EXCEEDED, "A workspace may have at most %u entries.",
                                LAW_ENTRIES_MAX);
                return -ENOBUFS;
        }

        g_ptr_array_extend_and_steal(law->entries, g_steal_pointer(&entries));
        return 0;
}

/* ---- judging ---- */

static bool path_is_protected(const LawEntry *entry, const char *workspace, const char *path) {
        g_autofree char *relative = operand_relative(workspace, path);

        return relative && operand_glob_match(entry->pattern, relative);
}

/* A command may touch what it names. What it computes nobody can tell from here. */
static bool command_touches(const LawEntry *entry, const char *workspace, const Command *command) {
        for (guint i = 0; i < command->targets->len; i++)
                if (path_is_protected(entry, workspace, command->targets->pdata[i]))
                        return true;

        for (guint i = 0; i < command->segments->len; i++) {
                const CommandSegment *segment = command->segments->pdata[i];

                for (guint k = 0; k < segment->words->len; k++)
                        if (path_is_protected(entry, workspace, segment->words->pdata[k]))
                                return true;
        }
        return false;
}

static bool entry_applies(const LawEntry *entry, const LawSubject *subject, const GPtrArray *paths) {
        if (!entry->is_path)
                return wildcard_match(entry->pattern, subject->policy_name);
        if (subject->reads_only || !subject->workspace)
                return false;
        if (subject->command)
                return command_touches(entry, subject->workspace, subject->command);

        for (guint i = 0; i < paths->len; i++)
                if (path_is_protected(entry, subject->workspace, paths->pdata[i]))
                        return true;
        return false;
}

LawFinding repository_law_find(const RepositoryLaw *law, const LawSubject *subject) {
        g_autoptr(GPtrArray) paths = operand_paths(subject->policy_name, subject->arguments);
        LawFinding finding = { .verdict = VERDICT_ALLOW };

        if (law->unreadable && !subject->reads_only)
                finding = (LawFinding){
                        .verdict = VERDICT_ASK,
                        .entry = "law.toml",
                        .why = "the workspace's protections can't be read",
                };

        for (guint i = 0; i < law->entries->len; i++) {
                const LawEntry *entry = law->entries->pdata[i];

                if (entry->verdict > finding.verdict && entry_applies(entry, subject, paths))
                        finding = (LawFinding){
                                .verdict = entry->verdict,
                                .entry = entry->pattern,
                                .why = entry->why,
                        };
        }
        return finding;
}
