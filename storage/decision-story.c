/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "storage/decision-log.h"

#define STORY_BYTES_MAX (4 * DECISION_RECORD_BYTES_MAX)
#define BUILD_CHARS     12

static const struct {
        const char *outcome;
        const char *sentence;
} sentences[] = {
        { "allowed", "It was allowed without asking a person." },
        { "approved", "A person approved it." },
        { "denied", "A person denied it." },
        { "timed-out", "Nobody answered the card in time, so it did not run. No person refused it." },
        { "no-approver", "A person had to be asked and nobody was there to answer, so it did not run." },
        { "withdrawn", "The card was withdrawn before anybody answered, so it did not run." },
        { "refused-by-policy", "Policy refused it; no person was asked." },
        { "hook-denied", "A pre-execution hook said no." },
        { "hook-failed", "A pre-execution hook could not be asked, and then nothing runs." },
        { "cancelled", "It was cancelled." },
        { "opened", "A person was asked." },
        { "confirmed", "The person at the machine confirmed it." },
        { "given", "A person allowed it for longer than once." },
        { "revoked", "It was taken back, at once." },
        { "expired", "Its time was over." },
        { "ended", "It ended with its session, or because the plugin is not what it was." },
        { "installed", "The bundle was installed, disabled and not trusted." },
        { "trusted", "The plugin was trusted: exactly these bytes, and what they ask for." },
        { "enabled", "The plugin may run." },
        { "disabled", "The plugin was switched off." },
        { "uninstalled", "The bundle was removed." },
        { "raised", "The session may do more without asking." },
        { "changed", "What the session may do was changed; nothing more than before runs without asking." },
        { "refused", "It was refused, and nothing happened." },
};

static const char *text_of(Jval record, const char *member) {
        return jval_text(jval_member(record, member));
}

static void tell_time(GString *story, Jval record) {
        g_autoptr(GDateTime) when = NULL;
        g_autofree char *text = NULL;
        int64_t usec;

        if (jval_int64(jval_member(record, "time"), &usec) >= 0)
                when = g_date_time_new_from_unix_utc(usec / G_USEC_PER_SEC);
        text = when ? g_date_time_format(when, "%Y-%m-%d %H:%M:%S UTC") : NULL;
        g_string_append_printf(story, "%s", text ? text : "At an unknown time");
}

static void tell_subject(GString *story, Jval record) {
        const char *kind = text_of(record, "kind"), *tool = text_of(record, "tool"),
                   *plugin = text_of(record, "plugin");
        const char *build = text_of(record, "build"), *call = text_of(record, "call"),
                   *parent = text_of(record, "parent");
        uint64_t generation;

        g_string_append_printf(story, ": %s", kind ? kind : "something");
        if (call)
                g_string_append_printf(story, " %s", call);
        if (parent)
                g_string_append_printf(story, " inside call %s", parent);
        if (tool)
                g_string_append_printf(story, ", tool \"%s\"", tool);
        if (plugin)
                g_string_append_printf(story, " of plugin %s", plugin);
        if (build)
                g_string_append_printf(story, " (build %.*s", BUILD_CHARS, build);
        if (build && jval_uint64(jval_member(record, "generation"), &generation) >= 0)
                g_string_append_printf(story, ", generation %" G_GUINT64_FORMAT, generation);
        g_string_append(story, build ? ").\n" : ".\n");
}

/* What somebody did who stands in a record of this kind. */
static const char *word_of_who(const char *kind) {
        static const struct {
                const char *kind, *word;
        } words[] = {
                { "answer", "Answered by " },
                { "grant", "By " },
                { "trust", "By " },
                { "posture", "By " },
                { "attempt", "Tried by " },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (strcmp(words[i].kind, kind) == 0)
                        return words[i].word;
        return "Asked for by ";
}

/* Returns whether somebody was named. */
static bool tell_person(GString *story, Jval record) {
        static const char *const members[] = { "unit", "exe", "name" };
        Jval who = jval_member(record, "who");
        uint64_t uid;
        bool found = false;

        if (!jval_is(who, J_OBJECT))
                return false;
        g_string_append(story, word_of_who(text_of(record, "kind")));
        for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
                if (text_of(who, members[i])) {
                        g_string_append_printf(story, "%s%s", found ? ", " : "", text_of(who, members[i]));
                        found = true;
                }
        if (jval_uint64(jval_member(who, "uid"), &uid) >= 0)
                g_string_append_printf(story, "%suid %" G_GUINT64_FORMAT, found ? ", " : "", uid);
        return true;
}

static void tell_who(GString *story, Jval record) {
        const char *session = text_of(record, "session"), *posture = text_of(record, "posture");
        const char *mode = text_of(record, "mode"), *provenance = text_of(record, "provenance");
        bool named = tell_person(story, record);

        if (session)
                g_string_append_printf(story, "%s session %s", named ? ", in" : "In", session);
        if (posture)
                g_string_append_printf(story, "%s%s", named || session ? ", posture " : "Posture ", posture);
        if (mode)
                g_string_append_printf(story, ", mode %s", mode);
        if (provenance)
                g_string_append_printf(story, ", the wish came from %s", provenance);
        if (named || session || posture)
                g_string_append(story, ".\n");
}

static void tell_arguments(GString *story, Jval record) {
        const char *digest = text_of(record, "arguments_digest"),
                   *original = text_of(record, "original_digest");
        Jval arguments = jval_member(record, "arguments");
        g_autofree char *shown = NULL;
        const char *text;
        size_t size;

        if (digest)
                g_string_append_printf(story, "Its arguments have the digest %s.\n", digest);
        if (original)
                g_string_append_printf(
                                story, "A hook revised them; before that the digest was %s.\n", original);
        if (jval_is(arguments, J_ABSENT))
                return;

        text = jval_source(arguments, &size);
        shown = sanitize_block_n(text, size, KIB(16), NULL);
        g_string_append_printf(story, "They were: %s\n", shown);
}

static void tell_hooks(GString *story, Jval record) {
        const char *hooks = text_of(record, "hooks");

        if (hooks)
                g_string_append_printf(story, "Its listeners said: %s.\n", hooks);
}

static void tell_trace(GString *story, Jval record) {
        JIter iter = jval_iterate(jval_member(record, "trace"));
        unsigned number = 0;
        Jval key, step;

        while (jiter_next(&iter, &key, &step)) {
                const char *layer = text_of(step, "layer"), *verdict = text_of(step, "verdict");
                const char *source = text_of(step, "source"), *why = text_of(step, "why");
                uint64_t dropped;

                if (number++ == 0)
                        g_string_append(story, "Who had a say, in order:\n");
                if (jval_uint64(jval_member(step, "dropped"), &dropped) >= 0)
                        g_string_append_printf(story, "  and %" G_GUINT64_FORMAT " more steps.\n", dropped);
                else
                        g_string_append_printf(story, "  %u. %s: %s; %s (%s).\n", number,
                                        layer ? layer : "?", verdict ? verdict : "?",
                                        why ? why : "no reason given", source ? source : "?");
        }
}

static void tell_end(GString *story, Jval record) {
        const char *outcome = text_of(record, "outcome"), *card = text_of(record, "card");
        const char *by = text_of(record, "answered_by"), *result = text_of(record, "result");
        const char *note = text_of(record, "note"), *sentence = NULL;
        uint64_t number;

        for (size_t i = 0; outcome && i < G_N_ELEMENTS(sentences); i++)
                if (strcmp(outcome, sentences[i].outcome) == 0)
                        sentence = sentences[i].sentence;
        if (sentence)
                g_string_append_printf(story, "%s\n", sentence);
        else if (outcome)
                g_string_append_printf(story, "Outcome: %s.\n", outcome);
        if (card)
                g_string_append_printf(story, "The card was %s%s%s.\n", card, by ? ", answered by " : "",
                                by ? by : "");
        else if (by)
                g_string_append_printf(story, "The answer came from %s.\n", by);
        if (jval_uint64(jval_member(record, "grant"), &number) >= 0)
                g_string_append_printf(story, "Grant %" G_GUINT64_FORMAT " had to do with it.\n", number);
        if (result)
                g_string_append_printf(story, "The execution ended with: %s.\n", result);
        if (jval_uint64(jval_member(record, "duration_usec"), &number) >= 0)
                g_string_append_printf(story, "It took %.1f ms.\n", (double) number / 1000.0);
        if (note)
                g_string_append_printf(story, "%s\n", note);
}

int decision_story(const char *json, size_t size, char **ret) {
        g_autoptr(GString) story = g_string_new(NULL);
        g_autoptr(Jdoc) doc = NULL;
        Jval record;

        if (jdoc_parse(json, size, NULL, &doc, NULL) < 0 || !jval_is(jdoc_root(doc), J_OBJECT))
                return -EBADMSG;
        record = jdoc_root(doc);
        if (!text_of(record, "kind"))
                return -EBADMSG;

        tell_time(story, record);
        tell_subject(story, record);
        tell_who(story, record);
        tell_arguments(story, record);
        tell_hooks(story, record);
        tell_trace(story, record);
        tell_end(story, record);
        *ret = sanitize_block(story->str, STORY_BYTES_MAX, NULL);
        return 0;
}

int decision_stories(const GPtrArray *lines, char **ret) {
        g_autoptr(GString) all = g_string_new(NULL);

        for (guint i = lines->len; i > 0; i--) {
                const char *line = lines->pdata[i - 1];
                g_autofree char *story = NULL;
                int r;

                r = decision_story(line, strlen(line), &story);
                if (r < 0)
                        return r;
                g_string_append_printf(all, "%s%s", all->len > 0 ? "\n" : "", story);
        }
        *ret = g_string_free(g_steal_pointer(&all), FALSE);
        return 0;
}
