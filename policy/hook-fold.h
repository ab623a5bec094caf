/* SPDX-License-Identifier: MIT */
#pragma once

/* Folds what the pre-execute listeners of one call answered into one word (contract 4.8, 5.8). Order of
 * power: a strict hook that could not be asked, deny, ask, nothing. "allow" is nothing. The last valid
 * revision decides the input. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jdoc.h"

typedef struct HookFold HookFold;

/* Who was asked. Strictness belongs to the hook that ran, not to the event; extension listeners are always
 * strict. */
typedef struct HookSource {
        const char *label;  /* as registered; shown sanitised, at most 64 characters */
        const char *plugin; /* id, NULL for a hook of the core */
        bool strict;
} HookSource;

/* Why there is no verdict. "Said no" and "could not be asked" are different outcomes (pains B1, B2). */
typedef enum HookFailure {
        HOOK_FAILURE_TIMED_OUT,
        HOOK_FAILURE_EXITED,    /* its process ended and said nothing */
        HOOK_FAILURE_KILLED,    /* by a signal */
        HOOK_FAILURE_THREW,     /* the listener's code failed */
        HOOK_FAILURE_MALFORMED, /* an answer that is no verdict */
        HOOK_FAILURE_TOO_LARGE, /* a revision over the limit */
        HOOK_FAILURE_ABSENT,    /* its host is not there */
        HOOK_FAILURE_REVOKED,   /* its owner went while it was asked */
        _HOOK_FAILURE_MAX,
        _HOOK_FAILURE_INVALID = -EINVAL,
} HookFailure;

typedef enum HookVerdict {
        HOOK_NO_OPINION,
        HOOK_ASK,
        HOOK_DENY,
        HOOK_NO_VERDICT, /* a strict hook could not be asked: the call is denied */
        _HOOK_VERDICT_MAX,
        _HOOK_VERDICT_INVALID = -EINVAL,
} HookVerdict;

const char *hook_failure_to_string(HookFailure failure);
const char *hook_verdict_to_string(HookVerdict verdict);

HookFold *hook_fold_new(void);
HookFold *hook_fold_free(HookFold *fold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HookFold, hook_fold_free)

/**
 * hook_fold_add_answer() - what a listener answered
 * @answer: {"kind":"abstain"|"deny"|"ask"|"revise"|"annotate"|"allow",...} or null or absent; decoded
 * strictly
 *
 * Return: 0 to go on with the next listener, 1 when the batch ends here (deny or no verdict). Never fails.
 */
int hook_fold_add_answer(HookFold *fold, const HookSource *source, Jval answer);

/** hook_fold_add_text() - the same from the JSON text of the answer */
int hook_fold_add_text(HookFold *fold, const HookSource *source, const char *json, size_t size);

/**
 * hook_fold_add_failure() - a listener that gave no verdict; only a strict one counts
 * @detail: NULL, or more words (an exit cause, an exception's text); sanitised
 */
int hook_fold_add_failure(HookFold *fold, const HookSource *source, HookFailure failure, const char *detail);

/**
 * hook_fold_add_process() - a shell hook that ended
 * @status: its exit status; -1 when it has none because a signal ended it
 * @output: what it printed
 *
 * Exit status 2 is a hard deny whatever was printed. Empty, non-JSON or decision-less output of a hook that
 * ended with 0 is no opinion. Any other end is no verdict.
 */
int hook_fold_add_process(
                HookFold *fold, const HookSource *source, int status, const char *output, size_t size);

HookVerdict hook_fold_verdict(const HookFold *fold);

/** hook_fold_label() - who decided, sanitised; NULL when nobody did */
const char *hook_fold_label(const HookFold *fold);

/** hook_fold_plugin() - whose hook decided; NULL for none or a hook of the core */
const char *hook_fold_plugin(const HookFold *fold);

/** hook_fold_reason() - the reason that was given, at most HOOK_TEXT_CHARS_MAX characters; NULL when there
 * is none */
const char *hook_fold_reason(const HookFold *fold);

/** hook_fold_receipt() - one line of at most 240 characters naming the hook and what happened; NULL for no
 * opinion */
const char *hook_fold_receipt(const HookFold *fold);

/**
 * hook_fold_revision() - the input that counts now, as JSON text of an object, verbatim; NULL when nobody
 * revised
 *
 * Give it to the next listener, and prepare the call again with it at the end: schema, admission, rules,
 * approval.
 */
const char *hook_fold_revision(const HookFold *fold, size_t *ret_size);

/** hook_fold_revisor() - whose revision that is, sanitised; NULL when nobody revised */
const char *hook_fold_revisor(const HookFold *fold);

/** hook_fold_context() - all annotations as one block of at most HOOK_CONTEXT_CHARS_MAX characters; NULL for
 * none */
const char *hook_fold_context(const HookFold *fold);

/** hook_fold_allows() - how many answered "allow"; it changed nothing, and the owner gets one notice */
unsigned hook_fold_allows(const HookFold *fold);

/** hook_fold_asked() - how many listeners were folded in */
unsigned hook_fold_asked(const HookFold *fold);
