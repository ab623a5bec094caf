/* SPDX-License-Identifier: MIT */
#pragma once

/* How freely a session lets calls run, and what kind of work it is in: the two words a person chooses, and
 * the one word that a tool brings along (contract 5.5). */

#include <errno.h>
#include <stdbool.h>

typedef enum Posture {
        POSTURE_ASK,         /* a card when approval is required */
        POSTURE_AUTO_REVIEW, /* no cards: what would need a person is denied */
        POSTURE_FULL_ACCESS, /* no cards for ordinary requests; policy holds remain */
        POSTURE_NEVER,       /* no cards: what needs approval is denied */
        _POSTURE_MAX,
        _POSTURE_INVALID = -EINVAL,
} Posture;

/* Plan blocks writes, commands and every extension tool, before the posture is looked at. */
typedef enum Mode {
        MODE_AGENT,
        MODE_PLAN,
        MODE_OPERATE,
        _MODE_MAX,
        _MODE_INVALID = -EINVAL,
} Mode;

/* What a tool's registration asks for. An extension tool is always REQUIRED, whatever it claims. */
typedef enum Requirement {
        REQUIREMENT_AUTO,
        REQUIREMENT_SUGGEST,
        REQUIREMENT_REQUIRED,
        _REQUIREMENT_MAX,
        _REQUIREMENT_INVALID = -EINVAL,
} Requirement;

/**
 * posture_to_string(), posture_from_string() - "ask", "auto-review", "full-access", "never"
 *
 * Reading also knows the spellings of configuration files: suggest, on-request, untrusted; auto; bypass,
 * yolo. Return of the reader: _POSTURE_INVALID for anything else, NULL included.
 */
const char *posture_to_string(Posture posture);
Posture posture_from_string(const char *word);

/** mode_to_string(), mode_from_string() - "agent" (also read: act), "plan", "operate" */
const char *mode_to_string(Mode mode);
Mode mode_from_string(const char *word);

const char *requirement_to_string(Requirement requirement);

/**
 * posture_tighten() - lay a project's wish over the user's posture; it can only tighten (contract 5.7, layer
 * 1)
 *
 * The order is full-access, auto-review, ask, never. A wish that is looser than @base changes nothing.
 */
Posture posture_tighten(Posture base, Posture overlay);

/**
 * posture_is_raise() - whether going from one posture to another is a personal act that needs confirming
 * (design 4.2)
 */
bool posture_is_raise(Posture from, Posture to);

/**
 * mode_is_raise() - whether a change of mode needs a person
 *
 * Only leaving Plan where calls then run without a question; in every other posture a person is asked about each of them.
 */
bool mode_is_raise(Posture posture, Mode from, Mode to);

/**
 * posture_effective() - what counts for one call
 * @posture:     of the session
 * @full_access: the session's full-access bit; a stale Never together with it counts as Full Access
 * @standing:    the input may inherit standing authority; without it Auto-Review and Full Access narrow to
 * Ask (5.5.2)
 */
Posture posture_effective(Posture posture, bool full_access, bool standing);

/* Function R of contract 5.5.1: does this tool need a request at all? */
typedef enum Resolution {
        RESOLUTION_ALLOW,
        RESOLUTION_PROMPT,
        RESOLUTION_DENY,
        _RESOLUTION_MAX,
        _RESOLUTION_INVALID = -EINVAL,
} Resolution;

Resolution posture_resolve(Posture posture, Requirement requirement);

/* Function D of contract 5.5.1: what happens with a request that exists? Each is one of its six steps, in
 * order. */
typedef enum Disposition {
        DISPOSITION_SESSION_DENIED,
        DISPOSITION_AUTO_REVIEW_HOLD,
        DISPOSITION_FULL_ACCESS_HOLD,
        DISPOSITION_NEVER,
        DISPOSITION_APPROVE,
        DISPOSITION_CARD,
        _DISPOSITION_MAX,
        _DISPOSITION_INVALID = -EINVAL,
} Disposition;

typedef struct DispositionInput {
        Posture posture; /* posture_effective() */
        bool granted;    /* this session */
        bool denied;     /* this session */
        bool forced;     /* no grant and no posture may answer it */
        bool extension_origin;
} DispositionInput;

Disposition posture_dispose(const DispositionInput *input);
