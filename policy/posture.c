/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <glib.h>

#include "policy/posture.h"

static const char *const posture_table[_POSTURE_MAX] = {
        [POSTURE_ASK] = "ask",
        [POSTURE_AUTO_REVIEW] = "auto-review",
        [POSTURE_FULL_ACCESS] = "full-access",
        [POSTURE_NEVER] = "never",
};

static const char *const mode_table[_MODE_MAX] = {
        [MODE_AGENT] = "agent",
        [MODE_PLAN] = "plan",
        [MODE_OPERATE] = "operate",
};

static const char *const requirement_table[_REQUIREMENT_MAX] = {
        [REQUIREMENT_AUTO] = "auto",
        [REQUIREMENT_SUGGEST] = "suggest",
        [REQUIREMENT_REQUIRED] = "required",
};

/* Spellings of configuration files and of older versions. */
static const struct {
        const char *word;
        Posture posture;
} posture_aliases[] = {
        { "suggest", POSTURE_ASK },
        { "on-request", POSTURE_ASK },
        { "untrusted", POSTURE_ASK },
        { "auto", POSTURE_AUTO_REVIEW },
        { "bypass", POSTURE_FULL_ACCESS },
        { "yolo", POSTURE_FULL_ACCESS },
        { "full_access", POSTURE_FULL_ACCESS },
        { "auto_review", POSTURE_AUTO_REVIEW },
};

/* The order in which a project may move a posture: only to a higher number. */
static const int posture_strictness[_POSTURE_MAX] = {
        [POSTURE_FULL_ACCESS] = 0,
        [POSTURE_AUTO_REVIEW] = 1,
        [POSTURE_ASK] = 2,
        [POSTURE_NEVER] = 3,
};

static int word_lookup(const char *const *table, int length, const char *word) {
        for (int i = 0; i < length; i++)
                if (g_strcmp0(word, table[i]) == 0)
                        return i;

        return -EINVAL;
}

const char *posture_to_string(Posture posture) {
        return posture >= 0 && posture < _POSTURE_MAX ? posture_table[posture] : NULL;
}

Posture posture_from_string(const char *word) {
        int found = word_lookup(posture_table, _POSTURE_MAX, word);

        for (size_t i = 0; found < 0 && i < G_N_ELEMENTS(posture_aliases); i++)
                if (g_strcmp0(word, posture_aliases[i].word) == 0)
                        found = posture_aliases[i].posture;

        return found;
}

const char *mode_to_string(Mode mode) {
        return mode >= 0 && mode < _MODE_MAX ? mode_table[mode] : NULL;
}

Mode mode_from_string(const char *word) {
        if (g_strcmp0(word, "act") == 0)
                return MODE_AGENT;

        return word_lookup(mode_table, _MODE_MAX, word);
}

const char *requirement_to_string(Requirement requirement) {
        return requirement >= 0 && requirement < _REQUIREMENT_MAX ? requirement_table[requirement] : NULL;
}

Posture posture_tighten(Posture base, Posture overlay) {
        assert(base >= 0 && base < _POSTURE_MAX);
        assert(overlay >= 0 && overlay < _POSTURE_MAX);

        return posture_strictness[overlay] > posture_strictness[base] ? overlay : base;
}

bool posture_is_raise(Posture from, Posture to) {
        assert(from >= 0 && from < _POSTURE_MAX);
        assert(to >= 0 && to < _POSTURE_MAX);

        return to == POSTURE_FULL_ACCESS && from != POSTURE_FULL_ACCESS;
}

bool mode_is_raise(Posture posture, Mode from, Mode to) {
        return from == MODE_PLAN && to != MODE_PLAN && posture == POSTURE_FULL_ACCESS;
}

Posture posture_effective(Posture posture, bool full_access, bool standing) {
        assert(posture >= 0 && posture < _POSTURE_MAX);

        /* The bit is set whenever the posture is Full Access, so another posture beside it is a left-over.
         */
        if (full_access)
                posture = POSTURE_FULL_ACCESS;

        if (!standing && (posture == POSTURE_AUTO_REVIEW || posture == POSTURE_FULL_ACCESS))
                posture = POSTURE_ASK;

        return posture;
}

/* Contract 5.5.1, function R. Marking a tool as non-bypassable changes no cell here: it only stops allow
 * rules. */
static const Resolution resolution_table[_REQUIREMENT_MAX][_POSTURE_MAX] = {
        [REQUIREMENT_AUTO] = {
                [POSTURE_ASK] = RESOLUTION_ALLOW,
                [POSTURE_AUTO_REVIEW] = RESOLUTION_ALLOW,
                [POSTURE_FULL_ACCESS] = RESOLUTION_ALLOW,
                [POSTURE_NEVER] = RESOLUTION_ALLOW,
        },
        [REQUIREMENT_SUGGEST] = {
                [POSTURE_ASK] = RESOLUTION_PROMPT,
                [POSTURE_AUTO_REVIEW] = RESOLUTION_PROMPT,
                [POSTURE_FULL_ACCESS] = RESOLUTION_ALLOW,
                [POSTURE_NEVER] = RESOLUTION_DENY,
        },
        [REQUIREMENT_REQUIRED] = {
                [POSTURE_ASK] = RESOLUTION_PROMPT,
                [POSTURE_AUTO_REVIEW] = RESOLUTION_PROMPT,
                [POSTURE_FULL_ACCESS] = RESOLUTION_ALLOW,
                [POSTURE_NEVER] = RESOLUTION_DENY,
        },
};

Resolution posture_resolve(Posture posture, Requirement requirement) {
        assert(posture >= 0 && posture < _POSTURE_MAX);
        assert(requirement >= 0 && requirement < _REQUIREMENT_MAX);

        return resolution_table[requirement][posture];
}

Disposition posture_dispose(const DispositionInput *input) {
        Resolution ordinary = posture_resolve(input->posture, REQUIREMENT_REQUIRED);

        if (input->denied)
                return DISPOSITION_SESSION_DENIED;
        if (input->posture == POSTURE_AUTO_REVIEW)
                return DISPOSITION_AUTO_REVIEW_HOLD;
        if (input->forced && !input->extension_origin && ordinary == RESOLUTION_ALLOW)
                return DISPOSITION_FULL_ACCESS_HOLD;
        if (ordinary == RESOLUTION_DENY)
                return DISPOSITION_NEVER;
        if (!input->forced && (ordinary == RESOLUTION_ALLOW || input->granted))
                return DISPOSITION_APPROVE;

        return DISPOSITION_CARD;
}
