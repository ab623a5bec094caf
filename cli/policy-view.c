/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/failure.h"
#include "cli/output.h"
#include "cli/policy-view.h"
#include "cli/view.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

#define LINE_BYTES_MAX 1024u

static Jval member(Jval object, const char *name) {
        return jval_member(object, name);
}

/* A text as one safe line; "" when it is not there. */
static char *line_of(Jval object, const char *name) {
        const char *text = jval_text(member(object, name));

        return text ? sanitize_line(text, LINE_BYTES_MAX, NULL) : g_strdup("");
}

/* ---- what a rule is about ---- */

static void append_fact(GString *words, Jval rule, const char *name, const char *before) {
        g_autofree char *value = line_of(rule, name);

        if (*value != '\0')
                g_string_append_printf(words, "%s%s", before, value);
}

static char *rule_words(Jval rule) {
        g_autoptr(GString) words = g_string_new(NULL);

        append_fact(words, rule, "tool", " tool ");
        append_fact(words, rule, "plugin", " of plugin ");
        append_fact(words, rule, "build", " build ");
        append_fact(words, rule, "caller", " called by plugin ");
        append_fact(words, rule, "command", " command: ");
        append_fact(words, rule, "path", " path ");
        return g_strdup(words->str + (words->len > 0));
}

static void append_at(const Cli *cli, GString *page, Jval entry) {
        g_autofree char *at = line_of(entry, "at");

        if (*at == '\0')
                return;
        g_string_append(page, "  ");
        style_append(cli, page, STYLE_DIM, at);
}

static void append_outcome(const Cli *cli, GString *page, const char *word) {
        bool bad = strcmp(word, "deny") == 0 || strcmp(word, "block") == 0, good = strcmp(word, "allow") == 0;

        style_append(cli, page, bad ? STYLE_BAD : good ? STYLE_GOOD : STYLE_WARNING, word);
        g_string_append_printf(page, "%*s", MAX(7 - (int) strlen(word), 1), "");
}

static void append_why(GString *page, Jval entry) {
        g_autofree char *why = line_of(entry, "why");

        if (*why != '\0')
                g_string_append_printf(page, "         why: %s\n", why);
}

/* ---- show ---- */

static void append_mistakes(const Cli *cli, GString *page, Jval file) {
        JIter iter = jval_iterate(member(file, "mistakes"));
        g_autofree char *path = line_of(file, "path");
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *text = line_of(item, "text"), *severity = line_of(item, "severity");
                uint64_t line = 0;

                (void) jval_uint64(member(item, "line"), &line);
                g_string_append(page, "  ");
                style_append(cli, page, strcmp(severity, "error") == 0 ? STYLE_BAD : STYLE_WARNING, severity);
                if (line > 0)
                        g_string_append_printf(page, ": %s:%" G_GUINT64_FORMAT ": %s\n", path, line, text);
                else
                        g_string_append_printf(page, ": %s: %s\n", path, text);
        }
}

static void append_files(const Cli *cli, GString *page, Jval files) {
        JIter iter = jval_iterate(files);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *path = line_of(item, "path"), *source = line_of(item, "source"), *state = line_of(item, "state");

                g_string_append_printf(page, "  %-14s %s", source, path);
                if (strcmp(state, "read") != 0) {
                        g_string_append(page, "  ");
                        style_append(cli, page, strcmp(state, "broken") == 0 ? STYLE_BAD : STYLE_DIM, state);
                }
                g_string_append_c(page, '\n');
                append_mistakes(cli, page, item);
        }
}

static void append_in_force(const Cli *cli, GString *page, Jval root) {
        g_autofree char *in_force = line_of(root, "in_force"), *posture = line_of(root, "posture");
        Jval limit = member(root, "posture_limit");

        g_string_append_printf(page, "Sessions begin with posture %s.", posture);
        if (jval_is(limit, J_OBJECT)) {
                g_autofree char *loosest = line_of(limit, "posture");

                g_string_append_printf(page, " The administrator allows nothing looser than %s.", loosest);
                append_at(cli, page, limit);
        }
        g_string_append_c(page, '\n');
        if (strcmp(in_force, "files") == 0)
                return;
        style_append(cli, page, STYLE_BAD,
                     strcmp(in_force, "nothing") == 0
                                     ? "The files can't be read, and nothing was read before: nothing runs."
                                     : "The files can't be read as they are now: what was read last stays in force.");
        g_string_append_c(page, '\n');
}

static void append_rules_of(const Cli *cli, GString *page, Jval rules, const char *source, const char *outcome) {
        JIter iter = jval_iterate(rules);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *id = NULL, *words = NULL;

                if (!jval_equals_text(member(item, "source"), source) || !jval_equals_text(member(item, "outcome"), outcome))
                        continue;
                id = line_of(item, "id");
                words = rule_words(item);
                g_string_append(page, "  ");
                append_outcome(cli, page, outcome);
                g_string_append_printf(page, "%s (%s)", words, id);
                append_at(cli, page, item);
                g_string_append_c(page, '\n');
                append_why(page, item);
        }
}

/* In the order in which they count. */
static void append_rules(const Cli *cli, GString *page, Jval rules) {
        static const char *const sources[] = { "administrator", "user", "agent", "built-in" };
        static const char *const outcomes[] = { "deny", "ask", "allow" };

        view_heading(cli, page, "Rules, in the order in which they count");
        if (jval_length(rules) == 0)
                g_string_append(page, "  none: what needs approval asks\n");
        for (size_t i = 0; i < G_N_ELEMENTS(sources); i++) {
                JIter iter = jval_iterate(rules);
                Jval key, item;
                bool any = false;

                while (!any && jiter_next(&iter, &key, &item))
                        any = jval_equals_text(member(item, "source"), sources[i]);
                if (!any)
                        continue;
                g_string_append_printf(page, "  of the %s:\n", sources[i]);
                for (size_t k = 0; k < G_N_ELEMENTS(outcomes); k++)
                        append_rules_of(cli, page, rules, sources[i], outcomes[k]);
        }
}

static void append_entries(const Cli *cli, GString *page, Jval list, const char *outcome, const char *what, const char *name) {
        JIter iter = jval_iterate(list);
        Jval key, item;

        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *value = line_of(item, name), *own = line_of(item, "outcome");

                g_string_append(page, "  ");
                append_outcome(cli, page, *own != '\0' ? own : outcome);
                g_string_append_printf(page, "%s%s", what, value);
                append_at(cli, page, item);
                g_string_append_c(page, '\n');
                append_why(page, item);
        }
}

static void append_lists(const Cli *cli, GString *page, Jval root) {
        Jval commands = member(root, "commands"), tools = member(root, "tools"), review = member(root, "auto_review");
        JIter allowed = jval_iterate(member(tools, "allow"));
        Jval key, list;

        view_heading(cli, page, "Lists");
        append_entries(cli, page, member(commands, "deny"), "deny", "command: ", "command");
        append_entries(cli, page, member(commands, "trust"), "trust", "command: ", "command");
        append_entries(cli, page, member(tools, "deny"), "deny", "tool ", "tool");
        while (jiter_next(&allowed, &key, &list))
                append_entries(cli, page, list, "only", "tool ", "tool");
        append_entries(cli, page, member(review, "block"), "block", "auto-review: ", "rule");
        append_entries(cli, page, member(review, "allow"), "safe", "auto-review: ", "rule");
}

static void append_project(const Cli *cli, GString *page, Jval project) {
        g_autofree char *workspace = line_of(project, "workspace"), *posture = line_of(member(project, "posture_limit"), "posture");

        view_heading(cli, page, "This workspace, which can only tighten");
        g_string_append_printf(page, "  %s\n", workspace);
        append_files(cli, page, member(project, "files"));
        if (*posture != '\0') {
                g_string_append_printf(page, "  nothing looser than %s", posture);
                append_at(cli, page, member(project, "posture_limit"));
                g_string_append_c(page, '\n');
        }
        append_entries(cli, page, member(project, "deny"), "deny", "tool ", "tool");
        append_entries(cli, page, member(project, "protect"), "block", "changes of ", "path");
        append_entries(cli, page, member(project, "tools"), "block", "tool ", "tool");
}

int policy_view_show(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autoptr(GString) page = g_string_new(NULL);
        Jval root;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        root = jdoc_root(doc);
        append_in_force(cli, page, root);
        view_heading(cli, page, "Files");
        append_files(cli, page, member(root, "files"));
        append_rules(cli, page, member(root, "rules"));
        append_lists(cli, page, root);
        if (jval_is(member(root, "project"), J_OBJECT))
                append_project(cli, page, member(root, "project"));
        return output_page(cli, page->str);
}

/* ---- check ---- */

int policy_view_check(const Cli *cli, const char *path, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autofree char *shown = sanitize_line(path, LINE_BYTES_MAX, NULL);
        uint64_t entries = 0, dropped = 0;
        bool valid = false;
        Jval root, key, item;
        JIter iter;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        root = jdoc_root(doc);
        (void) jval_boolean(member(root, "valid"), &valid);
        (void) jval_uint64(member(root, "entries"), &entries);
        (void) jval_uint64(member(root, "dropped"), &dropped);
        if (cli_has(cli, OPTION_JSON))
                return output_json(json) != EXIT_STATUS_OK ? EXIT_STATUS_FAILURE : valid ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;

        iter = jval_iterate(member(root, "mistakes"));
        while (jiter_next(&iter, &key, &item)) {
                g_autofree char *text = line_of(item, "text"), *severity = line_of(item, "severity");
                uint64_t line = 1, column = 1;

                (void) jval_uint64(member(item, "line"), &line);
                (void) jval_uint64(member(item, "column"), &column);
                printf("%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s: %s\n", shown, line, column, severity, text);
        }
        if (dropped > 0)
                printf("%s: %" G_GUINT64_FORMAT " more are not shown\n", shown, dropped);
        if (valid)
                printf("%s: it can be used; %" G_GUINT64_FORMAT " %s.\n", shown, entries, entries == 1 ? "entry" : "entries");
        return valid ? EXIT_STATUS_OK : EXIT_STATUS_USAGE;
}

/* ---- explain ---- */

static const struct {
        const char *layer;
        const char *question;
} layers[] = {
        { "configuration", "Which posture counts?" },
        { "admission", "May the tool be used at all, in this mode?" },
        { "hooks", "What do plugins that listen say?" },
        { "baseline", "Does such a call need approval?" },
        { "rules", "What do the permission files say?" },
        { "auto-review", "Is it known to be destructive, or to publish?" },
        { "repository-law", "What does the workspace protect?" },
        { "approval", "Must a person be asked?" },
        { "envelope", "Within which walls does it run?" },
};

static const char *question_of(const char *layer) {
        for (size_t i = 0; i < G_N_ELEMENTS(layers); i++)
                if (strcmp(layers[i].layer, layer) == 0)
                        return layers[i].question;

        return layer;
}

static void append_step(const Cli *cli, GString *page, Jval step) {
        g_autofree char *verdict = line_of(step, "verdict"), *why = line_of(step, "why"), *source = line_of(step, "source");

        g_string_append(page, "     ");
        append_outcome(cli, page, verdict);
        g_string_append_printf(page, "%s (%s)", why, source);
        append_at(cli, page, step);
        g_string_append_c(page, '\n');
}

static void append_layer(const Cli *cli, GString *page, Jval layer) {
        g_autofree char *name = line_of(layer, "layer"), *says = line_of(layer, "says"), *heading = NULL;
        JIter iter = jval_iterate(member(layer, "steps"));
        bool reached = false, decided = false;
        uint64_t number = 0;
        Jval key, item;

        (void) jval_boolean(member(layer, "reached"), &reached);
        (void) jval_boolean(member(layer, "decided"), &decided);
        (void) jval_uint64(member(layer, "number"), &number);
        heading = g_strdup_printf("%" G_GUINT64_FORMAT ". %s", number, question_of(name));
        g_string_append(page, decided ? "=> " : "   ");
        style_append(cli, page, decided ? STYLE_BOLD : reached ? STYLE_PLAIN : STYLE_DIM, heading);
        g_string_append_c(page, '\n');
        while (jiter_next(&iter, &key, &item))
                append_step(cli, page, item);
        if (*says != '\0')
                g_string_append_printf(page, "     %s\n", says);
        else if (!reached)
                g_string_append(page, "     not looked at: it is refused already\n");
}

static void append_offers(GString *page, Jval root) {
        JIter iter = jval_iterate(member(root, "offers"));
        bool forced = false;
        Jval key, item;

        (void) jval_boolean(member(root, "forced"), &forced);
        if (forced && jval_equals_text(member(root, "verdict"), "ask"))
                g_string_append(page, "No grant can answer it: a person is asked every time.\n");
        while (jiter_next(&iter, &key, &item))
                g_string_append_printf(page, "The card would offer to allow %s for the session.\n",
                                       jval_equals_text(item, "tool") ? "the tool with any arguments" : "exactly this call");
}

int policy_view_explain(const Cli *cli, const char *json) {
        g_autoptr(Jdoc) doc = view_parse(json);
        g_autoptr(GString) page = g_string_new(NULL);
        g_autofree char *tool = NULL, *then = NULL, *why = NULL, *wrong = NULL, *from = NULL, *session = NULL;
        Jval root, key, item;
        JIter iter;

        if (!doc)
                return EXIT_STATUS_FAILURE;

        root = jdoc_root(doc);
        tool = line_of(root, "tool");
        from = line_of(root, "from");
        session = line_of(root, "session");
        then = line_of(root, "then");
        why = line_of(root, "why");
        wrong = line_of(root, "arguments_reason");
        g_string_append_printf(page, "A call of %s%s%s, ", tool, *from != '\0' ? " by plugin " : "", from);
        if (strcmp(session, "none") == 0)
                g_string_append(page, "as in a new session.");
        else
                g_string_append_printf(page, "in session %s.", session);
        g_string_append(page, " Nothing was run, and nobody was asked.\n\n");
        iter = jval_iterate(member(root, "layers"));
        while (jiter_next(&iter, &key, &item))
                append_layer(cli, page, item);
        g_string_append_c(page, '\n');
        if (*wrong != '\0')
                g_string_append_printf(page, "Its arguments do not fit the schema, so it would end before all that: %s\n", wrong);
        style_append(cli, page, STYLE_BOLD, then);
        g_string_append_printf(page, "\n%s\n", why);
        append_offers(page, root);
        return output_page(cli, page->str);
}
