/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
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
        sd_bus_error *reterr;
} Loader;

static int refuse(Loader *loader, const char *where, const char *what) {
        (void) errors_set(loader->reterr, ERROR_INVALID_ARGUMENTS, "%s: %s.", where, what);
        return -EINVAL;
}

static int read_text(Loader *loader, const char *where, const char *member, Jval value, char **ret) {
        g_autofree char *what = NULL;
        const char *text = jval_text(value);

        if (text && *text != '\0' && strlen(text) <= RULE_PATTERN_BYTES_MAX && !*ret) {
                *ret = g_strdup(text);
                return 0;
        }
        what = g_strdup_printf("\"%s\" must be a text of 1 to %u bytes", member, RULE_PATTERN_BYTES_MAX);
        return refuse(loader, where, what);
}

static int read_outcome(Loader *loader, const char *where, Jval value, RuleOutcome *ret) {
        for (int i = 0; i < _RULE_OUTCOME_MAX; i++)
                if (jval_equals_text(value, rule_outcome_to_string(i))) {
                        *ret = i;
                        return 0;
                }

        return refuse(loader, where, "\"outcome\" must be \"deny\", \"ask\" or \"allow\"");
}

static int read_command(Loader *loader, const char *where, Jval value, char ***ret) {
        g_autofree char *text = NULL;
        int r = read_text(loader, where, "command", value, &text);

        if (r < 0)
                return r;
        *ret = command_words(text);
        if (!*ret)
                return refuse(loader, where, "\"command\" must be the first words of one plain command");
        return 0;
}

static int read_rule_member(Loader *loader, const char *where, Rule *rule, const char *name, Jval value) {
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
        g_autofree char *what = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (strcmp(name, texts[i].name) == 0)
                        return read_text(loader, where, name, value, texts[i].text);
        if (strcmp(name, "outcome") == 0)
                return read_outcome(loader, where, value, &rule->outcome);
        if (strcmp(name, "command") == 0)
                return read_command(loader, where, value, &rule->command);

        what = g_strdup_printf("unknown member \"%s\"", name);
        return refuse(loader, where, what);
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

static int read_rule(Loader *loader, size_t index, Jval value) {
        Rule *rule = g_new0(Rule, 1);
        g_autofree char *where = g_strdup_printf("rule %zu", index + 1);
        JIter iter = jval_iterate(value);
        Jval key, item;
        int r = 0;

        *rule = (Rule){ .source = loader->source, .outcome = _RULE_OUTCOME_INVALID };
        g_ptr_array_add(loader->rules, rule);
        if (!jval_is(value, J_OBJECT))
                return refuse(loader, where, "it must be a table");

        while (r >= 0 && jiter_next(&iter, &key, &item))
                r = read_rule_member(loader, where, rule, jval_text(key) ? jval_text(key) : "", item);
        if (r < 0)
                return r;
        if (rule->outcome < 0)
                return refuse(loader, where, "it needs an \"outcome\"");

        rule->specificity = rule_specificity(rule);
        if (rule->specificity == 0)
                return refuse(loader, where,
                                "it must say what it is about: tool, plugin, build, caller, command or "
                                "path");
        if (!rule->id)
                rule->id = g_steal_pointer(&where);
        return 0;
}

static int read_rules(Loader *loader, Jval list) {
        JIter iter = jval_iterate(list);
        size_t index = 0;
        Jval key, item;
        int r = 0;

        if (!jval_is(list, J_ARRAY))
                return refuse(loader, "rule", "must be a list of tables");
        if (jval_length(list) + loader->into->all->len > RULES_MAX) {
                (void) errors_set(loader->reterr, ERROR_LIMIT_EXCEEDED, "There may be at most %u rules.",
                                RULES_MAX);
                return -ENOBUFS;
        }
        while (r >= 0 && jiter_next(&iter, &key, &item))
                r = read_rule(loader, index++, item);
        return r;
}

static int read_prefixes(Loader *loader, const char *where, Jval list, GPtrArray *out, size_t there) {
        JIter iter = jval_iterate(list);
        Jval key, item;
        int r;

        if (!jval_is(list, J_ARRAY))
                return refuse(loader, where, "must be a list of commands");
        if (jval_length(list) + there > RULES_MAX) {
                (void) errors_set(loader->reterr, ERROR_LIMIT_EXCEEDED,
                                "%s: there may be at most %u commands.", where, RULES_MAX);
                return -ENOBUFS;
        }
        while (jiter_next(&iter, &key, &item)) {
                CommandPrefix *prefix = g_new0(CommandPrefix, 1);

                g_ptr_array_add(out, prefix);
                prefix->source = loader->source;
                r = read_command(loader, where, item, &prefix->words);
                if (r < 0)
                        return r;
                prefix->text = g_strjoinv(" ", prefix->words);
        }
        return 0;
}

static int read_commands(Loader *loader, Jval table) {
        JIter iter = jval_iterate(table);
        Jval key, item;
        int r = 0;

        if (!jval_is(table, J_OBJECT))
                return refuse(loader, "commands", "must be a table");
        while (r >= 0 && jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "deny"))
                        r = read_prefixes(loader, "commands.deny", item, loader->denied,
                                        loader->into->denied->len);
                else if (jval_equals_text(key, "trust"))
                        r = read_prefixes(loader, "commands.trust", item, loader->trusted,
                                        loader->into->trusted->len);
                else
                        r = refuse(loader, "commands", "only \"deny\" and \"trust\" are known");
        }
        return r;
}

static int read_document(Loader *loader, Jval document) {
        JIter iter = jval_iterate(document);
        Jval key, item;
        int r = 0;

        if (!jval_is(document, J_OBJECT))
                return refuse(loader, "rules", "the document must be a table");
        while (r >= 0 && jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "rule"))
                        r = read_rules(loader, item);
                else if (jval_equals_text(key, "commands"))
                        r = read_commands(loader, item);
                else
                        r = refuse(loader, "rules", "only \"rule\" and \"commands\" are known");
        }
        return r;
}

static void move_all(GPtrArray *from, GPtrArray *to) {
        g_ptr_array_set_free_func(from, NULL);
        for (guint i = 0; i < from->len; i++)
                g_ptr_array_add(to, from->pdata[i]);
}

int rule_set_load(RuleSet *rules, RuleSource source, Jval document, sd_bus_error *reterr) {
        g_autoptr(GPtrArray) loaded = g_ptr_array_new_with_free_func(rule_free);
        g_autoptr(GPtrArray) denied = g_ptr_array_new_with_free_func(command_prefix_free);
        g_autoptr(GPtrArray) trusted = g_ptr_array_new_with_free_func(command_prefix_free);
        Loader loader = {
                .source = source,
                .into = rules,
                .rules = loaded,
                .denied = denied,
                .trusted = trusted,
                .reterr = reterr,
        };
        int r;

        assert(source >= 0 && source < _RULE_SOURCE_MAX);
        r = read_document(&loader, document);
        if (r < 0)
                return r;

        g_ptr_array_set_free_func(loaded, NULL);
        for (guint i = 0; i < loaded->len; i++) {
                Rule *rule = loaded->pdata[i];

                rules->has_command_rules |= rule->command && rule->outcome != RULE_ALLOW;
                rule_set_index(rules, rule);
        }
        move_all(denied, rules->denied);
        move_all(trusted, rules->trusted);
        return 0;
}
