/* SPDX-License-Identifier: MIT */
#pragma once

/* The floor under every posture (contract 5.7, layer 6): block rules, then what is known to be destructive
 * or to publish, then allow rules, then nothing. It may add a question or a block and may vouch for what is
 * proven safe; it never takes back what an earlier layer held. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>

#include "common/jwriter.h"
#include "policy/command.h"
#include "policy/policy-document.h"
#include "policy/posture.h"
#include "policy/tool-name.h"

typedef enum ReviewFinding {
        REVIEW_NOTHING,
        REVIEW_SAFE,        /* proven read-only and local, or an allow rule vouches */
        REVIEW_PUBLISH,     /* leaves the machine: a question, skipped under Full Access */
        REVIEW_DESTRUCTIVE, /* catastrophic: a question with somebody there, a block without */
        REVIEW_BLOCKED,     /* a block rule */
        _REVIEW_FINDING_MAX,
        _REVIEW_FINDING_INVALID = -EINVAL,
} ReviewFinding;

const char *review_finding_to_string(ReviewFinding finding);

typedef struct AutoReview AutoReview;

AutoReview *auto_review_new(void);
AutoReview *auto_review_free(AutoReview *review);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AutoReview, auto_review_free)

/**
 * auto_review_block(), auto_review_vouch() - add a rule
 * @rule: a tool's pattern, or "command:" and the first words of a command
 * @at:   NULL, or the place in a file that says so
 *
 * Return: 0; -EINVAL when it can't be read; -ENOBUFS at RULES_MAX.
 */
int auto_review_block(AutoReview *review, const char *rule, const char *at);
int auto_review_vouch(AutoReview *review, const char *rule, const char *at);

/**
 * auto_review_load() - the same from {"block":[...],"allow":[...]} of the configuration; absent is nothing
 *
 * Return: 0; -EINVAL, -ENOBUFS with words in @document; then nothing of it counts.
 */
int auto_review_load(AutoReview *review, Jval table, PolicyDocument *document);

/** auto_review_write() - "block":[{"rule","at"}...],"allow":[...] as two members of an object that is begun */
void auto_review_write(const AutoReview *review, JWriter *writer);

typedef struct ReviewSubject {
        const char *policy_name;
        ToolCategory category;
        const Command *command; /* NULL when it is no shell call */
} ReviewSubject;

/**
 * auto_review_find() - what the floor says
 * @review:  NULL for the built-in floor alone
 * @ret_why: a static text or one that lives as long as @review
 * @ret_at:  NULL, or the place in a file that says so, as long; NULL for the built-in floor
 */
ReviewFinding auto_review_find(const AutoReview *review, const ReviewSubject *subject, const char **ret_why,
                const char **ret_at);

/** auto_review_command_is_read_only() - whether a command is proven to read only; for anything unknown it is
 * not */
bool auto_review_command_is_read_only(const Command *command);
