/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "policy/command.h"
#include "policy/operand.h"
#include "policy/rules-internal.h"
#include "policy/tool-name.h"
#include "policy/wildcard.h"

static const char *const source_table[_RULE_SOURCE_MAX] = {
        [RULE_BUILTIN] = "built-in",
        [RULE_AGENT] = "agent",
        [RULE_USER] = "user",
        [RULE_ADMIN] = "administrator",
};

static const char *const outcome_table[_RULE_OUTCOME_MAX] = {
        [RULE_ALLOW] = "allow",
        [RULE_ASK] = "ask",
        [RULE_DENY] = "deny",
};

const char *rule_source_to_string(RuleSource source) {
        return source >= 0 && source < _RULE_SOURCE_MAX ? source_table[source] : NULL;
}

const char *rule_outcome_to_string(RuleOutcome outcome) {
        return outcome >= 0 && outcome < _RULE_OUTCOME_MAX ? outcome_table[outcome] : NULL;
}

void rule_free(void *data) {
        Rule *rule = data;

        if (!rule)
                return;
        g_free(rule->id);
        g_free(rule->tool);
        g_free(rule->plugin);
        g_free(rule->build);
        g_free(rule->caller);
        g_strfreev(rule->command);
        g_free(rule->path);
        g_free(rule->why);
        g_free(rule->at);
        g_free(rule);
}

void command_prefix_free(void *data) {
        CommandPrefix *prefix = data;

        if (!prefix)
                return;
        g_strfreev(prefix->words);
        g_free(prefix->text);
        g_free(prefix->at);
        g_free(prefix);
}

RuleSet *rule_set_new(void) {
        RuleSet *rules = g_new0(RuleSet, 1);

        rules->all = g_ptr_array_new_with_free_func(rule_free);
        rules->by_tool = g_hash_table_new_full(
                        g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        rules->denied = g_ptr_array_new_with_free_func(command_prefix_free);
        rules->trusted = g_ptr_array_new_with_free_func(command_prefix_free);
        return rules;
}

RuleSet *rule_set_free(RuleSet *rules) {
        if (!rules)
                return NULL;

        g_hash_table_unref(rules->by_tool);
        for (size_t i = 0; i < RULE_BUCKETS; i++)
                if (rules->patterns[i])
                        g_ptr_array_unref(rules->patterns[i]);
        g_ptr_array_unref(rules->all);
        g_ptr_array_unref(rules->denied);
        g_ptr_array_unref(rules->trusted);
        g_free(rules);
        return NULL;
}

size_t rule_set_length(const RuleSet *rules) {
        return rules->all->len;
}

const Rule *rule_set_get(const RuleSet *rules, size_t index) {
        return index < rules->all->len ? rules->all->pdata[index] : NULL;
}

static size_t bucket_of(const char *tool) {
        unsigned char first = tool ? (unsigned char) g_ascii_tolower(tool[0]) : 0;

        return first == '*' || first == '?' || first >= RULE_BUCKETS ? 0 : first;
}

static void add_pattern(RuleSet *rules, Rule *rule) {
        GPtrArray **bucket = &rules->patterns[bucket_of(rule->tool)];

        if (!*bucket)
                *bucket = g_ptr_array_new();
        g_ptr_array_add(*bucket, rule);
}

/* Rules that name a tool outright are found by it; the others are tried one by one, as far as their first
 * letter fits. */
void rule_set_index(RuleSet *rules, Rule *rule) {
        g_autofree char *name = NULL;
        GPtrArray *same;

        g_ptr_array_add(rules->all, rule);
        if (!rule->tool || wildcard_is_wild(rule->tool)) {
                add_pattern(rules, rule);
                return;
        }

        name = g_ascii_strdown(rule->tool, -1);
        same = g_hash_table_lookup(rules->by_tool, name);
        if (!same) {
                same = g_ptr_array_new();
                g_hash_table_insert(rules->by_tool, g_steal_pointer(&name), same);
        }
        g_ptr_array_add(same, rule);
}

/* ---- showing ---- */

static void write_rule(const Rule *rule, JWriter *writer) {
        const struct {
                const char *name;
                const char *text;
        } texts[] = {
                { "tool", rule->tool },
                { "plugin", rule->plugin },
                { "build", rule->build },
                { "caller", rule->caller },
                { "path", rule->path },
                { "why", rule->why },
                { "at", rule->at },
        };
        g_autofree char *command = rule->command ? g_strjoinv(" ", rule->command) : NULL;

        jwriter_begin_object(writer);
        jwriter_member_string(writer, "source", rule_source_to_string(rule->source));
        jwriter_member_string(writer, "id", rule->id);
        jwriter_member_string(writer, "outcome", rule_outcome_to_string(rule->outcome));
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (texts[i].text)
                        jwriter_member_string(writer, texts[i].name, texts[i].text);
        if (command)
                jwriter_member_string(writer, "command", command);
        jwriter_end_object(writer);
}

static void write_prefixes(const GPtrArray *prefixes, JWriter *writer) {
        jwriter_begin_array(writer);
        for (guint i = 0; i < prefixes->len; i++) {
                const CommandPrefix *prefix = prefixes->pdata[i];

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "source", rule_source_to_string(prefix->source));
                jwriter_member_string(writer, "command", prefix->text);
                if (prefix->at)
                        jwriter_member_string(writer, "at", prefix->at);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void rule_set_write(const RuleSet *rules, JWriter *writer) {
        jwriter_key(writer, "rules");
        jwriter_begin_array(writer);
        for (guint i = 0; i < rules->all->len; i++)
                write_rule(rules->all->pdata[i], writer);
        jwriter_end_array(writer);
        jwriter_key(writer, "commands");
        jwriter_begin_object(writer);
        jwriter_key(writer, "deny");
        write_prefixes(rules->denied, writer);
        jwriter_key(writer, "trust");
        write_prefixes(rules->trusted, writer);
        jwriter_end_object(writer);
}

/* ---- matching ---- */

typedef struct Matcher {
        const RuleSubject *subject;
        char *lower_name;
        bool one_name;          /* called by its policy name */
        const char *short_name; /* of the policy name, or NULL */
        Command *command;       /* taken apart on first need */
        GPtrArray *paths;       /* relative ones, on first need */
        bool paths_outside;
        bool paths_all; /* else there are more than were looked at */
        const Rule *best[_RULE_SOURCE_MAX];
} Matcher;

static const Command *matcher_command(Matcher *matcher) {
        const char *text;

        if (!matcher->command && matcher->subject->is_shell) {
                text = jval_text(jval_member(matcher->subject->arguments, "command"));
                matcher->command = command_parse(text ? text : "\"");
        }
        return matcher->command;
}

static void matcher_read_paths(Matcher *matcher) {
        g_autoptr(GPtrArray) written = NULL;

        if (matcher->paths)
                return;

        matcher->paths = g_ptr_array_new_with_free_func(g_free);
        written = operand_paths(matcher->subject->policy_name, matcher->subject->arguments, &matcher->paths_all);
        for (guint i = 0; i < written->len; i++) {
                char *relative = operand_relative(matcher->subject->workspace, written->pdata[i]);

                if (relative)
                        g_ptr_array_add(matcher->paths, relative);
                else
                        matcher->paths_outside = true;
        }
}

/* A rule that allows needs the command to be plain; one that denies or asks looks everywhere in it. */
static bool matches_command(Matcher *matcher, const Rule *rule) {
        const Command *command = matcher_command(matcher);

        if (!command)
                return false;
        if (rule->outcome == RULE_ALLOW)
                return command_is_plain(command) &&
                       command_segment_begins(command->segments->pdata[0], rule->command);
        return command_runs(command, rule->command);
}

/* A rule that allows needs every path to match; one that denies or asks needs one. Paths outside never
 * match. Of too many paths the worst is thought. */
static bool matches_path(Matcher *matcher, const Rule *rule) {
        guint matched = 0;

        if (!matcher->subject->is_core)
                return false;

        matcher_read_paths(matcher);
        if (!matcher->paths_all)
                return rule->outcome != RULE_ALLOW;
        for (guint i = 0; i < matcher->paths->len; i++)
                matched += operand_glob_match(rule->path, matcher->paths->pdata[i]);
        if (rule->outcome == RULE_ALLOW)
                return matched > 0 && matched == matcher->paths->len && !matcher->paths_outside;
        return matched > 0;
}

static bool matches_tool(const Matcher *matcher, const Rule *rule) {
        return wildcard_match(rule->tool, matcher->lower_name) ||
               (!matcher->one_name && wildcard_match(rule->tool, matcher->subject->policy_name)) ||
               (matcher->short_name && wildcard_match(rule->tool, matcher->short_name));
}

static bool matches(Matcher *matcher, const Rule *rule, bool tool_matches) {
        const RuleSubject *subject = matcher->subject;

        return (tool_matches || !rule->tool || matches_tool(matcher, rule)) &&
               (!rule->plugin || (subject->plugin && wildcard_match(rule->plugin, subject->plugin))) &&
               (!rule->build || g_strcmp0(rule->build, subject->build) == 0) &&
               (!rule->caller || (subject->caller && wildcard_match(rule->caller, subject->caller))) &&
               (!rule->command || matches_command(matcher, rule)) &&
               (!rule->path || matches_path(matcher, rule));
}

static bool is_better(const Rule *rule, const Rule *than) {
        if (!than)
                return true;
        if (rule->outcome != than->outcome)
                return rule->outcome > than->outcome;

        return rule->specificity > than->specificity;
}

static void try_rules(Matcher *matcher, const GPtrArray *rules, bool tool_matches) {
        for (guint i = 0; rules && i < rules->len; i++) {
                const Rule *rule = rules->pdata[i];

                if (is_better(rule, matcher->best[rule->source]) && matches(matcher, rule, tool_matches))
                        matcher->best[rule->source] = rule;
        }
}

static const Rule *resolve_sources(const Matcher *matcher) {
        const Rule *admin = matcher->best[RULE_ADMIN], *user = matcher->best[RULE_USER];

        if (admin && user)
                return user->outcome > admin->outcome ? user : admin;
        if (admin || user)
                return admin ? admin : user;
        return matcher->best[RULE_AGENT] ? matcher->best[RULE_AGENT] : matcher->best[RULE_BUILTIN];
}

static void match_prefixes(const RuleSet *rules, Matcher *matcher, RuleMatch *match) {
        const Command *command;

        if (rules->denied->len == 0 && rules->trusted->len == 0)
                return;
        command = matcher_command(matcher);
        if (!command)
                return;

        for (guint i = 0; i < rules->denied->len && !match->denied_command; i++) {
                const CommandPrefix *prefix = rules->denied->pdata[i];

                if (command_runs(command, prefix->words)) {
                        match->denied_command = prefix->text;
                        match->denied_by = prefix->source;
                        match->denied_at = prefix->at;
                }
        }
        for (guint i = 0; i < rules->trusted->len && command_is_plain(command); i++) {
                const CommandPrefix *prefix = rules->trusted->pdata[i];

                if (!command_segment_begins(command->segments->pdata[0], prefix->words))
                        continue;
                match->trusted_command = prefix->text;
                match->trusted_at = prefix->at;
        }
        match->unclear_command = command->unclear && rules->denied->len > 0;
}

/* Whoever writes "shell", "bash" or "exec_shell" means the same, however the call is spelled. */
static void try_named_rules(const RuleSet *rules, Matcher *matcher) {
        const char *const names[] = {
                matcher->lower_name, matcher->one_name ? NULL : matcher->subject->policy_name, matcher->short_name,
                tool_family_of(matcher->subject->policy_name),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (names[i])
                        try_rules(matcher, g_hash_table_lookup(rules->by_tool, names[i]), true);
}

/* By the first letters of the names, each list once. */
static void try_patterns(const RuleSet *rules, Matcher *matcher) {
        const size_t buckets[] = {
                0, bucket_of(matcher->lower_name), bucket_of(matcher->subject->policy_name), bucket_of(matcher->short_name),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(buckets); i++) {
                bool done = false;

                for (size_t j = 0; j < i; j++)
                        done = done || buckets[j] == buckets[i];
                if (!done)
                        try_rules(matcher, rules->patterns[buckets[i]], false);
        }
}

void rule_set_match(const RuleSet *rules, const RuleSubject *subject, RuleMatch *ret) {
        Matcher matcher = { .subject = subject, .lower_name = g_ascii_strdown(subject->name, -1) };
        RuleMatch match = {};

        matcher.one_name = strcmp(matcher.lower_name, subject->policy_name) == 0;
        matcher.short_name = tool_short_name(subject->policy_name);
        try_named_rules(rules, &matcher);
        try_patterns(rules, &matcher);
        match.rule = resolve_sources(&matcher);
        match_prefixes(rules, &matcher, &match);
        /* A deny or ask by command can't be ruled out for a command that nobody can read. */
        if (matcher.command && matcher.command->unclear && rules->has_command_rules)
                match.unclear_command = true;

        g_free(matcher.lower_name);
        (void) command_free(matcher.command);
        if (matcher.paths)
                g_ptr_array_unref(matcher.paths);
        *ret = match;
}
