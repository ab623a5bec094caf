/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "policy/command.h"
#include "policy/rules-internal.h"
#include "policy/wildcard.h"

/* What one file holds, until all of it is known to be right. */
typedef struct Loader {
        RuleSource source;
        const RuleSet *into;
        GPtrArray *rules;
        GPtrArray *denied;
        GPtrArray *trusted;
        GHashTable *ids; /* id -> place in the list, borrowed ids */
        PolicyDocument *document;
} Loader;

static int read_text(Loader *loader, const char *where, const char *member, Jval value, char **ret) {
        const char *text = jval_text(value);

        if (text && *text != '\0' && strlen(text) <= RULE_PATTERN_BYTES_MAX && !*ret) {
                *ret = g_strdup(text);
                return 0;
        }
        return policy_document_refuse(loader->document, value, "%s: \"%s\" must be a text of 1 to %u bytes.", where,
                                      member, RULE_PATTERN_BYTES_MAX);
}

static int read_outcome(Loader *loader, const char *where, Jval value, RuleOutcome *ret) {
        for (int i = 0; i < _RULE_OUTCOME_MAX; i++)
                if (jval_equals_text(value, rule_outcome_to_string(i))) {
                        *ret = i;
                        return 0;
                }

        return policy_document_refuse(loader->document, value,
                                      "%s: \"outcome\" must be \"deny\", \"ask\" or \"allow\".", where);
}

static int read_command(Loader *loader, const char *where, Jval value, char ***ret) {
        g_autofree char *text = NULL;
        int r = read_text(loader, where, "command", value, &text);

        if (r < 0)
                return r;
        *ret = command_words(text);
        if (!*ret)
                return policy_document_refuse(loader->document, value,
                                              "%s: \"command\" must be the first words of one plain command, such as \"git push\"; "
                                              "no pipes, quotes or variables.", where);
        return 0;
}

static int read_rule_member(Loader *loader, const char *where, Rule *rule, Jval key, Jval value) {
        const char *name = jval_text(key) ? jval_text(key) : "";
        const struct {
                const char *name;
                char **text;
        } texts[] = {
                { "id", &rule->id },
                { "tool", &rule->tool },
                { "plugin", &rule->plugin },
                { "build", &rule->build },
                { "caller", &rule->caller },
                { "path", &rule->path },
                { "why", &rule->why },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (strcmp(name, texts[i].name) == 0)
                        return read_text(loader, where, name, value, texts[i].text);
        if (strcmp(name, "outcome") == 0)
                return read_outcome(loader, where, value, &rule->outcome);
        if (strcmp(name, "command") == 0)
                return read_command(loader, where, value, &rule->command);

        return policy_document_refuse(loader->document, key,
                                      "%s: unknown member \"%s\"; a rule has outcome, id, tool, plugin, build, caller, command, "
                                      "path and why.", where, name);
}

/* More constraints first, then more literal text. */
static unsigned rule_specificity(const Rule *rule) {
        const char *texts[] = { rule->tool, rule->plugin, rule->build, rule->caller, rule->path };
        unsigned constraints = 0, letters = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                for (const char *c = texts[i]; c && *c != '\0'; c++) {
                        constraints += c == texts[i];
                        letters += *c != '*' && *c != '?';
                }
        for (char **word = rule->command; word && *word; word++) {
                constraints += word == rule->command;
                letters += (unsigned) strlen(*word);
        }
        return constraints * 65536u + MIN(letters, 65535u);
}

/* What an author may believe and what is not so. */
static void warn_of_plugin(Loader *loader, const char *where, const char *member, const char *pattern, Jval value) {
        if (pattern && !strpbrk(pattern, "/*?"))
                policy_document_warn(loader->document, value,
                                     "%s: it never applies: \"%s\" is about a plugin's whole id, such as "
                                     "\"user/b09c51bc393f/%s\". For any plugin of that name: \"*/%s\".", where, member, pattern,
                                     pattern);
}

static void warn_of_rule(Loader *loader, const char *where, const Rule *rule, Jval value) {
        bool core_only = rule->command || rule->path;

        warn_of_plugin(loader, where, "plugin", rule->plugin, value);
        warn_of_plugin(loader, where, "caller", rule->caller, value);

        if (rule->plugin && core_only)
                policy_document_warn(loader->document, value,
                                     "%s: it never applies: \"command\" and \"path\" are about core tools, \"plugin\" about a "
                                     "plugin's own tools. Did you mean \"caller\"?", where);
        else if (rule->outcome == RULE_ALLOW && !rule->caller && !(rule->plugin && rule->build))
                policy_document_warn(loader->document, value,
                                     "%s: it takes no question away from a plugin: to allow a plugin's tool, name \"plugin\" and "
                                     "\"build\"; to allow what a plugin asks the core for, name \"caller\".", where);
}

static int finish_rule(Loader *loader, const char *where, size_t index, Rule *rule, Jval value) {
        const void *other;

        if (rule->outcome < 0)
                return policy_document_refuse(loader->document, value,
                                              "%s: it needs an \"outcome\": \"deny\", \"ask\" or \"allow\".", where);
        rule->specificity = rule_specificity(rule);
        if (rule->specificity == 0)
                return policy_document_refuse(loader->document, value,
                                              "%s: it must say what it is about: tool, plugin, build, caller, command or path.",
                                              where);
        if (!rule->id)
                rule->id = g_strdup(where);
        other = g_hash_table_lookup(loader->ids, rule->id);
        if (other)
                return policy_document_refuse(loader->document, value, "%s: rule %zu has the id \"%s\" already.", where,
                                              GPOINTER_TO_SIZE(other), rule->id);

        (void) g_hash_table_insert(loader->ids, rule->id, GSIZE_TO_POINTER(index + 1));
        rule->at = policy_document_place(loader->document, value);
        warn_of_rule(loader, where, rule, value);
        return 0;
}

static int read_rule(Loader *loader, size_t index, Jval value) {
        g_autofree char *where = g_strdup_printf("rule %zu", index + 1);
        Rule *rule = g_new0(Rule, 1);
        JIter iter = jval_iterate(value);
        Jval key, item;
        int r = 0;

        *rule = (Rule){ .source = loader->source, .outcome = _RULE_OUTCOME_INVALID };
        g_ptr_array_add(loader->rules, rule);
        if (!jval_is(value, J_OBJECT))
                return policy_document_refuse(loader->document, value, "%s: it must be a table.", where);

        while (jiter_next(&iter, &key, &item))
                if (read_rule_member(loader, where, rule, key, item) < 0)
                        r = -EINVAL;
        return r < 0 ? r : finish_rule(loader, where, index, rule, value);
}

static void read_rules(Loader *loader, Jval list) {
        JIter iter = jval_iterate(list);
        size_t index = 0;
        Jval key, item;

        if (jval_is(list, J_ABSENT))
                return;
        if (!jval_is(list, J_ARRAY)) {
                (void) policy_document_refuse(loader->document, list,
                                              "rule: must be a list of tables; begin each rule with a line [[rule]].");
                return;
        }
        if (jval_length(list) + loader->into->all->len > RULES_MAX) {
                (void) policy_document_limit(loader->document, list, "There may be at most %u rules.", RULES_MAX);
                return;
        }
        while (jiter_next(&iter, &key, &item))
                (void) read_rule(loader, index++, item);
}

static void read_prefixes(Loader *loader, const char *where, Jval list, GPtrArray *out, size_t there) {
        JIter iter = jval_iterate(list);
        Jval key, item;

        if (!jval_is(list, J_ARRAY)) {
                (void) policy_document_refuse(loader->document, list,
                                              "%s: must be a list of commands, such as [\"rm -rf\"].", where);
                return;
        }
        if (jval_length(list) + there > RULES_MAX) {
                (void) policy_document_limit(loader->document, list, "%s: there may be at most %u commands.", where,
                                             RULES_MAX);
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                CommandPrefix *prefix = g_new0(CommandPrefix, 1);

                g_ptr_array_add(out, prefix);
                prefix->source = loader->source;
                if (read_command(loader, where, item, &prefix->words) < 0)
                        continue;
                prefix->text = g_strjoinv(" ", prefix->words);
                prefix->at = policy_document_place(loader->document, item);
        }
}

static void read_commands(Loader *loader, Jval table) {
        JIter iter = jval_iterate(table);
        Jval key, item;

        if (jval_is(table, J_ABSENT))
                return;
        if (!jval_is(table, J_OBJECT)) {
                (void) policy_document_refuse(loader->document, table, "commands: must be a table.");
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "deny"))
                        read_prefixes(loader, "commands.deny", item, loader->denied, loader->into->denied->len);
                else if (jval_equals_text(key, "trust"))
                        read_prefixes(loader, "commands.trust", item, loader->trusted, loader->into->trusted->len);
                else
                        (void) policy_document_refuse(loader->document, key,
                                                      "commands: only \"deny\" and \"trust\" are known.");
        }
}

static void move_all(GPtrArray *from, GPtrArray *to) {
        g_ptr_array_set_free_func(from, NULL);
        for (guint i = 0; i < from->len; i++)
                g_ptr_array_add(to, from->pdata[i]);
}

int rule_set_load(RuleSet *rules, RuleSource source, Jval rule, Jval commands, PolicyDocument *document) {
        g_autoptr(GPtrArray) loaded = g_ptr_array_new_with_free_func(rule_free);
        g_autoptr(GPtrArray) denied = g_ptr_array_new_with_free_func(command_prefix_free);
        g_autoptr(GPtrArray) trusted = g_ptr_array_new_with_free_func(command_prefix_free);
        g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
        int before = document->error, r;
        Loader loader = {
                .source = source,
                .into = rules,
                .rules = loaded,
                .denied = denied,
                .trusted = trusted,
                .ids = ids,
                .document = document,
        };

        assert(source >= 0 && source < _RULE_SOURCE_MAX);
        document->error = 0;
        read_rules(&loader, rule);
        read_commands(&loader, commands);
        r = document->error;
        document->error = before < 0 ? before : r;
        if (r < 0)
                return r;

        g_ptr_array_set_free_func(loaded, NULL);
        for (guint i = 0; i < loaded->len; i++) {
                Rule *one = loaded->pdata[i];

                rules->has_command_rules |= one->command && one->outcome != RULE_ALLOW;
                rule_set_index(rules, one);
        }
        move_all(denied, rules->denied);
        move_all(trusted, rules->trusted);
        return 0;
}
