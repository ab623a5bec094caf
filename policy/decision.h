/* SPDX-License-Identifier: MIT */
#pragma once

/* The one place that decides about a call (contract 5.7): facts in, verdict and full trace out. It knows no
 * bus, no file and no clock but the one passed in, and the same input always gives the same answer.
 *
 * A caller uses it like this:
 *   1. decision_admit() with the arguments as they came: refuses what no hook could rescue;
 *   2. ask the listeners, fold their answers (hook-fold.h);
 *   3. decision_make() with the final arguments, the original ones beside them, and the fold;
 *   4. VERDICT_ASK: open a card (approval-text.h), record the answer with trace_add(LAYER_APPROVAL);
 *   5. right before it runs: decision_make() again with the grants of that moment, unless a person just said
 * yes. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/jdoc.h"
#include "policy/grant.h"
#include "policy/hook-fold.h"
#include "policy/outcome.h"
#include "policy/posture.h"
#include "policy/trace.h"

typedef struct Admission Admission;         /* policy/admission.h */
typedef struct RuleSet RuleSet;             /* policy/rules.h */
typedef struct AutoReview AutoReview;       /* policy/auto-review.h */
typedef struct RepositoryLaw RepositoryLaw; /* policy/repository-law.h */

typedef enum ToolKind {
        TOOL_EXTENSION, /* a plugin's tool: always Required, never plan-safe */
        TOOL_CORE,      /* a tool of the session's core or of our built-in one */
        _TOOL_KIND_MAX,
        _TOOL_KIND_INVALID = -EINVAL,
} ToolKind;

/* What a core tool's registration declares. An extension tool's declarations are never looked at. */
typedef enum ToolCapabilities {
        TOOL_NETWORK = 1 << 0,
        TOOL_PROCESS = 1 << 1,
        TOOL_EXECUTES = 1 << 2,
        TOOL_WRITES = 1 << 3,
} ToolCapabilities;

/* A posture that no session gets beyond. */
typedef struct PostureLimit {
        bool set;
        Posture posture;
        const char *at; /* the place in its file, borrowed; may be NULL */
} PostureLimit;

typedef struct DecisionInput {
        /* The session */
        const char *session;
        Posture posture;
        bool full_access; /* the session's full-access bit */
        bool no_standing; /* provenance that can't inherit standing authority */
        PostureLimit admin_posture;   /* no session gets anything looser */
        PostureLimit project_posture; /* what the workspace wishes; it only tightens */
        const char *unreadable_rules; /* the rules can't be read and there are no last good ones: nothing runs; NULL when
                                         there are */
        const char *unreadable_settings; /* likewise the configuration, which names the guards */
        Mode mode;
        bool headless;         /* nobody can answer a card */
        bool background;       /* unattended work: the destructive floor blocks instead of asking */
        const char *workspace; /* absolute path, NULL for none */

        /* The call */
        ToolKind kind;
        const char *tool;          /* as it was called */
        const char *plugin;        /* owner of an extension tool, else NULL */
        const char *build;         /* its content hash */
        const char *caller_plugin; /* a nested call: the plugin that makes it (the origin is the extension)
                                    */
        Requirement requirement;   /* of a core tool; ignored for extension tools */
        bool never_bypassable;     /* no allow rule removes its requirement */
        ToolCapabilities capabilities;
        bool claims_read_only; /* kept for the record; decides nothing (contract 5.4, pains C9) */
        Jval arguments;        /* what would run */
        Jval original;         /* before a hook revised it; absent when nobody did */

        /* What is laid over it; each may be NULL */
        const Admission *admission;
        const Admission *project_admission; /* what the workspace denies */
        const HookFold *hooks;
        const RuleSet *rules;
        const AutoReview *review;
        const RepositoryLaw *law;
        const GrantTable *grants;
        const ApprovalKeys *keys; /* approval_keys_make() for @arguments; needed where grants are */
        uint64_t now_usec;
} DecisionInput;

typedef struct Decision {
        Verdict verdict;     /* VERDICT_ALLOW, VERDICT_ASK or VERDICT_DENY */
        CallOutcome outcome; /* of allow and deny; for ask _OUTCOME_INVALID until somebody answered */
        Posture posture;     /* that counted */
        bool forced;         /* an ask that no grant can answer */
        unsigned offers;     /* GRANT_OFFER() bits that a card may offer; 0 when forced */
        uint64_t grant_id;   /* the grant that answered, else 0 */
        Trace *trace;
} Decision;

void decision_done(Decision *decision);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Decision, decision_done)

/**
 * decision_admit() - layers 1 and 2, and the refused list for a nested call: may this go on to the hooks?
 *
 * @ret is VERDICT_ALLOW or VERDICT_DENY. End it with decision_done().
 */
void decision_admit(const DecisionInput *input, Decision *ret);

/**
 * decision_make() - all layers
 *
 * Adding a layer, a deny or an ask never makes the verdict looser. End @ret with decision_done().
 */
void decision_make(const DecisionInput *input, Decision *ret);

/**
 * decision_why() - one sentence: the verdict and the step that decided it; for error texts and logs
 *
 * Return: a new string.
 */
char *decision_why(const Decision *decision);
