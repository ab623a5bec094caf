/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a rule set, shared by its reader (rules-load.c) and its matcher (rules.c). */

#include "policy/rules.h"

typedef struct CommandPrefix {
        RuleSource source;
        char **words;
        char *text;
        char *at; /* as in Rule */
} CommandPrefix;

/* Bucket 0 is for rules without a tool or with a pattern that begins with a wildcard. */
#define RULE_BUCKETS 128

struct RuleSet {
        GPtrArray *all;                    /* Rule, owned */
        GHashTable *by_tool;               /* lower-case name -> GPtrArray of Rule, borrowed */
        GPtrArray *patterns[RULE_BUCKETS]; /* Rule, borrowed: the other ones by their first letter; NULL for
                                              none */
        GPtrArray *denied;                 /* CommandPrefix */
        GPtrArray *trusted;                /* CommandPrefix */
        bool has_command_rules;            /* some rule that does not allow looks at commands */
};

void rule_free(void *rule);
void command_prefix_free(void *prefix);

/** rule_set_index() - take a finished rule in */
void rule_set_index(RuleSet *rules, Rule *rule);
