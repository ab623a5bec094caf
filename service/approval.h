/* SPDX-License-Identifier: MIT */
#pragma once

/* A card: a question to a person (design 4.1), and how it ended. approval-table.h holds the open ones and those who answer. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/actor.h"

typedef struct Approval Approval;

#define APPROVAL_PERSONAL_ACT "personal-act"
#define APPROVAL_ONCE "once"
#define APPROVAL_SESSION "session"

typedef enum ApprovalOutcome {
        APPROVAL_ALLOWED,
        APPROVAL_DENIED,      /* a person said no */
        APPROVAL_TIMED_OUT,   /* nobody answered in time */
        APPROVAL_NO_APPROVER, /* the last one who could have answered left */
        APPROVAL_WITHDRAWN,   /* what asked is gone */
        _APPROVAL_OUTCOME_MAX,
        _APPROVAL_OUTCOME_INVALID = -EINVAL,
} ApprovalOutcome;

const char *approval_outcome_to_string(ApprovalOutcome outcome); /* "allowed", "denied", "timed-out", "no-approver", "withdrawn" */

typedef struct ApprovalAnswer {
        ApprovalOutcome outcome;
        const Actor *who;     /* who answered; NULL when nobody did */
        const char *scope;    /* APPROVAL_ONCE, the grant that was chosen, or of a no APPROVAL_SESSION; NULL without an answer */
        uint64_t seconds;     /* how long that grant is to last; 0: as long as the session */
        const char *reason;   /* of a withdrawal, for people */
} ApprovalAnswer;

/* Called once, before the card leaves the table. */
typedef void (*ApprovalDecided)(Approval *approval, const ApprovalAnswer *answer, void *userdata);

typedef struct ApprovalRequest {
        const char *requester; /* unique name of the connection whose call asks */
        const char *requester_exe, *requester_unit; /* for records; NULL when not known */
        uid_t requester_uid;
        const char *kind;      /* "tool-call", "core-call", "personal-act" */
        const char *call_id;   /* what records go by */
        const char *session;   /* id; NULL for none. When it ends, approval_table_withdraw_session() */
        const char *plugin;    /* id; NULL for none. One plugin has APPROVALS_PER_PLUGIN_MAX cards at most */
        const char *tool;      /* NULL for none */
        const char *title;     /* one sanitised line */
        const char *card;      /* the whole card as JSON, digest included, but for id and opened_usec */
        const char *digest;
        const char *const *scopes; /* grants that may be chosen beside "once"; NULL-terminated, or NULL */
        const char *arguments; /* exact and final */
        size_t arguments_size;
        uint64_t timeout_msec; /* 0: none */
} ApprovalRequest;

uint64_t approval_get_id(const Approval *approval);
const char *approval_get_kind(const Approval *approval);
const char *approval_get_title(const Approval *approval);
const char *approval_get_digest(const Approval *approval);
const char *approval_get_requester(const Approval *approval);
const Actor *approval_get_asker(const Approval *approval); /* the same connection as records tell of it */
const char *approval_get_call_id(const Approval *approval);
const char *approval_get_session(const Approval *approval); /* NULL for none, as the next two */
const char *approval_get_plugin(const Approval *approval);
const char *approval_get_tool(const Approval *approval);
const char *approval_get_arguments(const Approval *approval, size_t *ret_size);

/** approval_to_json() - the card for approvers, with id and opened_usec; a new string */
char *approval_to_json(const Approval *approval);
