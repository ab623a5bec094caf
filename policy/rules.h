/* SPDX-License-Identifier: MIT */
#pragma once

/* Typed permission rules: deny, ask or allow, by tool, plugin, build, command and path (contract 5.7, layer
 * 5). They live in the administrator's and the user's configuration; a project can add none.
 *
 * One rule decides:
 *   - between sources: user beats agent beats built-in default. The administrator stands beside the user,
 * and of their two rules the stricter one counts, so neither can loosen what the other tightened;
 *   - inside a source: deny beats ask beats allow, and among equals the more specific rule, then the earlier
 * one, is named as the one that decided. The order is the same in every mode and posture (pains C10). Denied
 * command prefixes are judged beside that and always win, for the whole command and for every part of a
 * chain. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "policy/policy-document.h"

typedef enum RuleSource {
        RULE_BUILTIN,
        RULE_AGENT,
        RULE_USER,
        RULE_ADMIN,
        _RULE_SOURCE_MAX,
        _RULE_SOURCE_INVALID = -EINVAL,
} RuleSource;

typedef enum RuleOutcome {
        RULE_ALLOW,
        RULE_ASK,
        RULE_DENY,
        _RULE_OUTCOME_MAX,
        _RULE_OUTCOME_INVALID = -EINVAL,
} RuleOutcome;

const char *rule_source_to_string(RuleSource source);
const char *rule_outcome_to_string(RuleOutcome outcome);

typedef struct Rule {
        RuleSource source;
        RuleOutcome outcome;
        char *id;       /* its name in the file, or its place: "rule 3" */
        char *tool;     /* pattern of the policy name or the name as called; NULL matches every tool */
        char *plugin;   /* pattern of the plugin id */
        char *build;    /* exact content hash */
        char *caller;   /* pattern of the plugin that makes a nested call */
        char **command; /* words that a shell command begins with */
        char *path;     /* pattern of a path in the workspace */
        char *why;      /* what the author of the rule wrote */
        char *at;       /* the place in its file, "permissions.toml:12"; NULL when the file has no name */
        unsigned specificity;
} Rule;

typedef struct RuleSet RuleSet;

RuleSet *rule_set_new(void);
RuleSet *rule_set_free(RuleSet *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RuleSet, rule_set_free)

/**
 * rule_set_load() - add the rules of one file, already read as JSON
 * @rule:     [{"outcome":"deny|ask|allow","id","tool","plugin","build","caller","command","path","why"}...], or absent
 * @commands: {"deny":["rm -rf",...],"trust":["git status",...]}, or absent
 * @document: takes what is wrong with them
 *
 * Every member but the outcome may be missing, but a rule needs at least one that says what it is about.
 * Patterns know "*" and "?" and ignore case for tools. Unknown members are errors, so that a misspelt limit is
 * never no limit; so is an id that another rule of the file has, for decisions name rules by it.
 *
 * Return: 0; -EINVAL or -ENOBUFS (a limit), and nothing added.
 */
int rule_set_load(RuleSet *rules, RuleSource source, Jval rule, Jval commands, PolicyDocument *document);

size_t rule_set_length(const RuleSet *rules);
const Rule *rule_set_get(const RuleSet *rules, size_t index);

/**
 * rule_set_write() - all rules, for people who want to see what is in force
 *
 * Two members of an object that is begun: "rules":[{"source","id","outcome","tool","plugin",...,"why","at"}...] and
 * "commands":{"deny":[{"source","command","at"}...],"trust":[...]}; what a rule does not say is left out.
 */
void rule_set_write(const RuleSet *rules, JWriter *writer);

/* The call as rules see it. */
typedef struct RuleSubject {
        const char *name;        /* as called */
        const char *policy_name; /* tool_alias_resolve() */
        const char *plugin;
        const char *build;
        const char *caller;
        Jval arguments;
        const char *workspace;
        bool is_shell; /* the member "command" is a shell command */
        bool is_core;  /* path rules look at core tools only */
} RuleSubject;

typedef struct RuleMatch {
        const Rule *rule;           /* NULL when no typed rule matched */
        const char *denied_command; /* a denied prefix that matched: always wins */
        RuleSource denied_by;
        const char *denied_at;       /* the place in its file, or NULL */
        const char *trusted_command; /* a trusted prefix: only a candidate, only for a plain command */
        const char *trusted_at;
        bool unclear_command;        /* command rules exist and the command could not be taken apart */
} RuleMatch;

/** rule_set_match() - what the rules say about one call; @ret borrows from @rules */
void rule_set_match(const RuleSet *rules, const RuleSubject *subject, RuleMatch *ret);
