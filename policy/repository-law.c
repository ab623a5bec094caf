/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "policy/command-path.h"
#include "policy/operand.h"
#include "policy/repository-law.h"
#include "policy/tool-name.h"

typedef struct LawEntry {
        bool is_path; /* else the pattern is a tool's */
        Verdict verdict;
        char *pattern;
        char *why;
        char *at;
} LawEntry;

struct RepositoryLaw {
        GPtrArray *entries; /* LawEntry */
        char *unreadable; /* why it can't be read; NULL when it can */
};

static void entry_free(void *data) {
        LawEntry *entry = data;

        g_free(entry->pattern);
        g_free(entry->why);
        g_free(entry->at);
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
        g_free(law->unreadable);
        g_free(law);
        return NULL;
}

void repository_law_set_unreadable(RepositoryLaw *law, const char *why) {
        g_free(law->unreadable);
        law->unreadable = g_strdup(why);
}

/* ---- reading ---- */

/* Reads one entry into @entry; what it gets stays there also on failure. */
static int read_entry(PolicyDocument *document, const char *where, Jval value, LawEntry *entry) {
        JIter iter = jval_iterate(value);
        const char *subject = entry->is_path ? "path" : "tool", *text;
        Jval key, item;

        if (!jval_is(value, J_OBJECT))
                return policy_document_refuse(document, value, "%s: it must be a table.", where);

        while (jiter_next(&iter, &key, &item)) {
                text = jval_text(item);
                if (jval_equals_text(key, "outcome") && (jval_equals_text(item, "ask") || jval_equals_text(item, "block")))
                        entry->verdict = jval_equals_text(item, "ask") ? VERDICT_ASK : VERDICT_DENY;
                else if (jval_equals_text(key, "outcome"))
                        return policy_document_refuse(document, item,
                                                      "%s: \"outcome\" must be \"ask\" or \"block\"; a project can't allow.", where);
                else if (!jval_equals_text(key, subject) && !jval_equals_text(key, "why"))
                        return policy_document_refuse(document, key,
                                                      "%s: it has an unknown member; known are %s, outcome and why.", where, subject);
                else if (!text || *text == '\0' || strlen(text) > RULE_PATTERN_BYTES_MAX)
                        return policy_document_refuse(document, item, "%s: \"%s\" must be a text of 1 to %u bytes.", where,
                                                      jval_text(key), RULE_PATTERN_BYTES_MAX);
                else if (jval_equals_text(key, subject))
                        entry->pattern = g_strdup(text);
                else
                        entry->why = g_strdup(text);
        }
        return entry->pattern ? 0 : policy_document_refuse(document, value, "%s: it needs a \"%s\".", where, subject);
}

static int load_list(GPtrArray *entries, const char *list, Jval value, PolicyDocument *document) {
        JIter iter = jval_iterate(value);
        size_t index = 0;
        Jval key, item;
        int r = 0;

        if (!jval_is(value, J_ARRAY))
                return policy_document_refuse(document, value, "%s: must be a list of tables; begin each with a line [[%s]].", list,
                                              list);
        if (entries->len + jval_length(value) > LAW_ENTRIES_MAX)
                return policy_document_limit(document, value, "A workspace may have at most %u entries.", LAW_ENTRIES_MAX);

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *where = g_strdup_printf("%s %zu", list, ++index);
                LawEntry *entry = g_new0(LawEntry, 1);

                g_ptr_array_add(entries, entry);
                entry->is_path = strcmp(list, "protect") == 0;
                entry->verdict = VERDICT_DENY;
                if (read_entry(document, where, item, entry) < 0)
                        r = -EINVAL;
                entry->at = policy_document_place(document, item);
        }
        return r;
}

int repository_law_load(RepositoryLaw *law, Jval root, PolicyDocument *document) {
        g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(entry_free);
        JIter iter = jval_iterate(root);
        Jval key, item;
        int r = 0;

        if (!jval_is(root, J_OBJECT))
                return policy_document_refuse(document, root, "law: the document must be a table.");

        while (jiter_next(&iter, &key, &item)) {
                int loaded;

                if (jval_equals_text(key, "protect"))
                        loaded = load_list(entries, "protect", item, document);
                else if (jval_equals_text(key, "tools"))
                        loaded = load_list(entries, "tools", item, document);
                else
                        loaded = policy_document_refuse(document, key,
                                                        "law: only [[protect]] and [[tools]] are known.");
                if (r >= 0)
                        r = loaded;
        }
        if (r < 0)
                return r;
        if (entries->len + law->entries->len > LAW_ENTRIES_MAX)
                return policy_document_limit(document, root, "A workspace may have at most %u entries.", LAW_ENTRIES_MAX);

        g_ptr_array_extend_and_steal(law->entries, g_steal_pointer(&entries));
        return 0;
}

static void write_entries(const RepositoryLaw *law, bool paths, JWriter *writer) {
        jwriter_begin_array(writer);
        for (guint i = 0; i < law->entries->len; i++) {
                const LawEntry *entry = law->entries->pdata[i];

                if (entry->is_path != paths)
                        continue;
                jwriter_begin_object(writer);
                jwriter_member_string(writer, paths ? "path" : "tool", entry->pattern);
                jwriter_member_string(writer, "outcome", entry->verdict == VERDICT_ASK ? "ask" : "block");
                if (entry->why)
                        jwriter_member_string(writer, "why", entry->why);
                if (entry->at)
                        jwriter_member_string(writer, "at", entry->at);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void repository_law_write(const RepositoryLaw *law, JWriter *writer) {
        jwriter_key(writer, "protect");
        write_entries(law, true, writer);
        jwriter_key(writer, "tools");
        write_entries(law, false, writer);
}

/* ---- judging ---- */

/* Paths outside are nothing of the workspace. */
static GPtrArray *relative_ones(const char *workspace, const GPtrArray *paths) {
        GPtrArray *found = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < paths->len; i++) {
                char *relative = operand_relative(workspace, paths->pdata[i]);

                if (relative)
                        g_ptr_array_add(found, relative);
        }
        return found;
}

/* What a call may touch, by what it says: relative paths, NULL for nothing; @ret_all is false when there are more. What a command
 * computes nobody can tell from here. */
static GPtrArray *find_touched(const LawSubject *subject, bool *ret_all) {
        const char *cwd = jval_text(jval_member(subject->arguments, "cwd"));
        g_autoptr(GPtrArray) written = NULL;

        if (subject->reads_only || subject->extension || !subject->workspace)
                return NULL;
        if (subject->command)
                return command_paths(subject->command, subject->workspace, cwd, ret_all);
        written = operand_paths(subject->policy_name, subject->arguments, ret_all);
        return relative_ones(subject->workspace, written);
}

static bool entry_applies(const LawEntry *entry, const LawSubject *subject, const GPtrArray *touched, bool all) {
        if (!entry->is_path)
                return tool_pattern_means(entry->pattern, subject->policy_name);
        if (!touched)
                return false;
        for (guint i = 0; i < touched->len; i++)
                if (operand_glob_match(entry->pattern, touched->pdata[i]))
                        return true;
        return !all;
}

LawFinding repository_law_find(const RepositoryLaw *law, const LawSubject *subject) {
        bool all = true;
        g_autoptr(GPtrArray) touched = law->entries->len > 0 ? find_touched(subject, &all) : NULL;
        LawFinding finding = { .verdict = VERDICT_ALLOW };

        if (law->unreadable && !subject->reads_only)
                finding = (LawFinding){
                        .verdict = VERDICT_ASK,
                        .entry = "unreadable",
                        .why = law->unreadable,
                };

        for (guint i = 0; i < law->entries->len; i++) {
                const LawEntry *entry = law->entries->pdata[i];

                if (entry->verdict > finding.verdict && entry_applies(entry, subject, touched, all))
                        finding = (LawFinding){
                                .verdict = entry->verdict,
                                .entry = entry->pattern,
                                .why = entry->why,
                                .at = entry->at,
                        };
        }
        return finding;
}
