/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "policy/policy-set.h"

#define POSTURES "\"ask\", \"auto-review\", \"full-access\" or \"never\""

PolicySet *policy_set_new(void) {
        PolicySet *set = g_new0(PolicySet, 1);

        set->rules = rule_set_new();
        set->review = auto_review_new();
        set->admission = admission_new();
        return set;
}

PolicySet *policy_set_free(PolicySet *set) {
        if (!set)
                return NULL;

        (void) rule_set_free(set->rules);
        (void) auto_review_free(set->review);
        (void) admission_free(set->admission);
        g_free(set->posture_at);
        g_free(set);
        return NULL;
}

typedef int (*TakeName)(Admission *admission, const char *name, const char *at);

static int read_names(PolicyDocument *document, const char *where, Jval list, TakeName take, Admission *admission) {
        JIter iter = jval_iterate(list);
        Jval key, item;
        int r = 0;

        if (!jval_is(list, J_ARRAY))
                return policy_document_refuse(document, list, "%s: must be a list of tool names.", where);

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *at = policy_document_place(document, item);
                const char *name = jval_text(item);

                if (!name || *name == '\0' || strlen(name) > RULE_PATTERN_BYTES_MAX)
                        r = policy_document_refuse(document, item, "%s: must be a list of tool names, each a text.", where);
                else if (take(admission, name, at) < 0)
                        return policy_document_limit(document, item, "%s: there may be at most %u names.", where,
                                                     ADMISSION_NAMES_MAX);
        }
        return r;
}

static int load_tools(PolicySet *set, Jval table, PolicyDocument *document) {
        JIter iter = jval_iterate(table);
        Jval key, item;
        int r = 0;

        if (!jval_is(table, J_OBJECT))
                return policy_document_refuse(document, table, "tools: must be a table.");
        admission_begin_list(set->admission);
        while (jiter_next(&iter, &key, &item)) {
                int read;

                if (jval_equals_text(key, "allow"))
                        read = read_names(document, "tools.allow", item, admission_allow, set->admission);
                else if (jval_equals_text(key, "deny"))
                        read = read_names(document, "tools.deny", item, admission_deny, set->admission);
                else
                        read = policy_document_refuse(document, key, "tools: only \"allow\" and \"deny\" are known.");
                if (r >= 0)
                        r = read;
        }
        return r;
}

static int load_posture(PolicySet *set, RuleSource source, Jval table, PolicyDocument *document) {
        Jval posture = jval_member(table, "posture");

        if (!jval_is(table, J_OBJECT) || jval_length(table) != 1 || jval_is(posture, J_ABSENT))
                return policy_document_refuse(document, table, "policy: only \"posture\" is known.");
        if (source != RULE_ADMIN)
                return policy_document_refuse(document, posture,
                                              "policy: the default posture of your sessions stands in config.toml; only the "
                                              "administrator's permissions.toml limits it.");

        set->posture = posture_from_string(jval_text(posture));
        if (set->posture < 0)
                return policy_document_refuse(document, posture, "policy: \"posture\" must be " POSTURES ".");
        set->has_posture = true;
        g_free(set->posture_at);
        set->posture_at = policy_document_place(document, posture);
        return 0;
}

int policy_set_load(PolicySet *set, RuleSource source, Jval root, PolicyDocument *document) {
        JIter iter = jval_iterate(root);
        Jval key, item, rule = {}, commands = {};

        if (!jval_is(root, J_OBJECT))
                return policy_document_refuse(document, root, "permissions: the document must be a table.");
        while (jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "rule"))
                        rule = item;
                else if (jval_equals_text(key, "commands"))
                        commands = item;
                else if (jval_equals_text(key, "tools"))
                        (void) load_tools(set, item, document);
                else if (jval_equals_text(key, "auto_review"))
                        (void) auto_review_load(set->review, item, document);
                else if (jval_equals_text(key, "policy"))
                        (void) load_posture(set, source, item, document);
                else
                        (void) policy_document_refuse(document, key,
                                                      "permissions: there is no \"%s\"; known are [[rule]], [commands], [tools], "
                                                      "[auto_review] and [policy].", jval_text(key) ? jval_text(key) : "");
        }
        (void) rule_set_load(set->rules, source, rule, commands, document);
        return document->error;
}

void policy_set_write(const PolicySet *set, JWriter *writer) {
        if (set->has_posture) {
                jwriter_key(writer, "posture_limit");
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "posture", posture_to_string(set->posture));
                if (set->posture_at)
                        jwriter_member_string(writer, "at", set->posture_at);
                jwriter_end_object(writer);
        }
        rule_set_write(set->rules, writer);
        jwriter_key(writer, "tools");
        jwriter_begin_object(writer);
        admission_write(set->admission, writer);
        jwriter_end_object(writer);
        jwriter_key(writer, "auto_review");
        jwriter_begin_object(writer);
        auto_review_write(set->review, writer);
        jwriter_end_object(writer);
}

/* ---- a project's wish ---- */

void project_wish_done(ProjectWish *wish) {
        wish->denied = admission_free(wish->denied);
        g_clear_pointer(&wish->posture_at, g_free);
}

static void refuse_if_there(Jval root, const char *name, PolicyDocument *document) {
        Jval value = jval_member(root, name);

        if (!jval_is(value, J_ABSENT))
                (void) policy_document_refuse(document, value, "%s: a project can't add rules; protect paths and tools in law.toml.",
                                              name);
}

static void load_wished_posture(ProjectWish *wish, Jval posture, PolicyDocument *document) {
        if (jval_is(posture, J_ABSENT))
                return;

        wish->posture = posture_from_string(jval_text(posture));
        wish->has_posture = wish->posture >= 0;
        if (wish->has_posture)
                wish->posture_at = policy_document_place(document, posture);
        else
                (void) policy_document_refuse(document, posture, "policy: \"posture\" must be " POSTURES ".");
}

static void load_wished_tools(ProjectWish *wish, Jval tools, PolicyDocument *document) {
        Jval deny = jval_member(tools, "deny"), allow = jval_member(tools, "allow");

        if (!jval_is(allow, J_ABSENT))
                (void) policy_document_refuse(document, allow, "tools.allow: a project can deny tools but not allow them.");
        if (jval_is(deny, J_ABSENT))
                return;
        wish->denied = admission_new();
        (void) read_names(document, "tools.deny", deny, admission_deny, wish->denied);
}

int project_wish_load(Jval root, ProjectWish *ret, PolicyDocument *document) {
        g_auto(ProjectWish) wish = {};

        refuse_if_there(root, "rule", document);
        refuse_if_there(root, "commands", document);
        refuse_if_there(root, "auto_review", document);
        load_wished_posture(&wish, jval_member(jval_member(root, "policy"), "posture"), document);
        load_wished_tools(&wish, jval_member(root, "tools"), document);
        if (document->error < 0)
                return document->error;

        *ret = wish;
        wish = (ProjectWish){};
        return 0;
}
