/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "policy/policy-set.h"

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
        g_free(set);
        return NULL;
}

static int refuse(sd_bus_error *reterr, const char *where, const char *what) {
        (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: %s.", where, what);
        return -EINVAL;
}

/* Hands each name of a list to @take. */
static int read_names(const char *where, Jval list, int (*take)(void *userdata, const char *name),
                void *userdata, sd_bus_error *reterr) {
        JIter iter = jval_iterate(list);
        Jval key, item;

        if (!jval_is(list, J_ARRAY))
                return refuse(reterr, where, "must be a list of tool names");
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(item);

                if (!name || *name == '\0' || strlen(name) > RULE_PATTERN_BYTES_MAX)
                        return refuse(reterr, where, "must be a list of tool names");
                if (take(userdata, name) < 0) {
                        (void) errors_set(reterr, ERROR_LIMIT_EXCEEDED, "%s: there may be at most %u names.",
                                        where, ADMISSION_NAMES_MAX);
                        return -ENOBUFS;
                }
        }
        return 0;
}

static int take_allowed(void *admission, const char *name) {
        return admission_allow(admission, name);
}

static int take_denied(void *admission, const char *name) {
        return admission_deny(admission, name);
}

static int load_tools(PolicySet *set, Jval table, sd_bus_error *reterr) {
        JIter iter = jval_iterate(table);
        Jval key, item;
        int r = 0;

        if (!jval_is(table, J_OBJECT))
                return refuse(reterr, "tools", "must be a table");
        admission_begin_list(set->admission);
        while (r >= 0 && jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "allow"))
                        r = read_names("tools.allow", item, take_allowed, set->admission, reterr);
                else if (jval_equals_text(key, "deny"))
                        r = read_names("tools.deny", item, take_denied, set->admission, reterr);
                else
                        r = refuse(reterr, "tools", "only \"allow\" and \"deny\" are known");
        }
        return r;
}

/* The part of the document that rule_set_load() knows, as a document of its own. */
static int load_rules(PolicySet *set, RuleSource source, Jval rule, Jval commands, sd_bus_error *reterr) {
        const struct {
                const char *name;
                Jval value;
        } members[] = { { "rule", rule }, { "commands", commands } };
        g_auto(JWriter) writer = {};
        g_autofree char *json = NULL;
        g_autoptr(Jdoc) doc = NULL;
        size_t size;
        int r;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
                size_t value_size;
                const char *text = jval_source(members[i].value, &value_size);

                if (!text)
                        continue;
                jwriter_key(&writer, members[i].name);
                jwriter_raw(&writer, text, value_size);
        }
        jwriter_end_object(&writer);
        json = jwriter_steal(&writer, &size);

        /* As deep as it was, and spliced: it can only be as good as it was. */
        r = jdoc_parse(json, size, NULL, &doc, NULL);
        return r < 0 ? r : rule_set_load(set->rules, source, jdoc_root(doc), reterr);
}

int policy_set_load(PolicySet *set, RuleSource source, Jval document, sd_bus_error *reterr) {
        JIter iter = jval_iterate(document);
        Jval key, item, rule = {}, commands = {};
        int r = 0;

        if (!jval_is(document, J_OBJECT))
                return refuse(reterr, "permissions", "the document must be a table");
        while (r >= 0 && jiter_next(&iter, &key, &item)) {
                if (jval_equals_text(key, "rule"))
                        rule = item;
                else if (jval_equals_text(key, "commands"))
                        commands = item;
                else if (jval_equals_text(key, "tools"))
                        r = load_tools(set, item, reterr);
                else if (jval_equals_text(key, "auto_review"))
                        r = auto_review_load(set->review, item, reterr);
                else
                        r = refuse(reterr, "permissions",
                                        "only \"rule\", \"commands\", \"tools\" and \"auto_review\" are "
                                        "known");
        }
        return r < 0 ? r : load_rules(set, source, rule, commands, reterr);
}

/* ---- a project's wish ---- */

void project_wish_done(ProjectWish *wish) {
        g_clear_pointer(&wish->denied_tools, g_ptr_array_unref);
}

static int take_name(void *list, const char *name) {
        GPtrArray *names = list;

        if (names->len >= ADMISSION_NAMES_MAX)
                return -ENOBUFS;
        g_ptr_array_add(names, g_strdup(name));
        return 0;
}

int project_wish_load(Jval document, ProjectWish *ret, sd_bus_error *reterr) {
        g_auto(ProjectWish) wish = { .denied_tools = g_ptr_array_new_with_free_func(g_free) };
        Jval posture = jval_member(jval_member(document, "policy"), "posture");
        Jval tools = jval_member(document, "tools");
        int r = 0;

        if (!jval_is(jval_member(document, "rule"), J_ABSENT) ||
                        !jval_is(jval_member(document, "commands"), J_ABSENT))
                return refuse(reterr, "project", "a project can't add rules");
        if (!jval_is(jval_member(tools, "allow"), J_ABSENT))
                return refuse(reterr, "project", "a project can deny tools but not allow them");
        if (!jval_is(posture, J_ABSENT)) {
                wish.has_posture = true;
                wish.posture = posture_from_string(jval_text(posture));
                if (wish.posture < 0)
                        return refuse(reterr, "policy.posture",
                                        "must be ask, auto-review, full-access or never");
        }
        if (!jval_is(jval_member(tools, "deny"), J_ABSENT))
                r = read_names("tools.deny", jval_member(tools, "deny"), take_name, wish.denied_tools,
                                reterr);
        if (r < 0)
                return r;

        *ret = wish;
        wish = (ProjectWish){};
        return 0;
}

/* ---- where it stands ---- */

static bool is_rule_header(const char *line) {
        line += strspn(line, " \t");
        if (!g_str_has_prefix(line, "[["))
                return false;
        line += 2;
        line += strspn(line, " \t");
        if (!g_str_has_prefix(line, "rule"))
                return false;
        line += strlen("rule");
        line += strspn(line, " \t");
        return g_str_has_prefix(line, "]]");
}

unsigned policy_file_line(const char *toml, const char *message) {
        unsigned wanted = 0, found = 0, line = 1;

        if (sscanf(message, "rule %u:", &wanted) != 1)
                return 0;
        for (const char *at = toml; at && *at != '\0'; line++) {
                found += is_rule_header(at);
                if (found == wanted && wanted > 0)
                        return line;
                at = strchr(at, '\n');
                at = at ? at + 1 : NULL;
        }
        return 0;
}
