/* SPDX-License-Identifier: MIT */
#pragma once

/* The open cards and the programs that show them (design 4.1). All approvers see every card; the first valid answer wins. An
 * answer names the card and the digest of what was shown. The connection that asks can't answer its own card. Numbers are never
 * used again while the service runs. */

#include <systemd/sd-bus.h>

#include "service/approval-choice.h"
#include "service/approval.h"
#include "service/approver.h"

typedef struct ApprovalTable ApprovalTable;

typedef struct ApprovalEvents {
        void (*opened)(Approval *approval, void *userdata);
        void (*closed)(Approval *approval, const ApprovalAnswer *answer, void *userdata); /* before ApprovalDecided */
        void (*approvers_changed)(void *userdata);
} ApprovalEvents;

ApprovalTable *approval_table_new(sd_event *event);
ApprovalTable *approval_table_free(ApprovalTable *table); /* open cards are withdrawn */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ApprovalTable, approval_table_free)
void approval_table_set_events(ApprovalTable *table, const ApprovalEvents *events, void *userdata);

/**
 * approval_table_register() - make a connection an approver, or give one that is another label
 *
 * Return: 0; ERROR_LIMIT_EXCEEDED; ERROR_INVALID_OPTION for the label, see approver_new().
 */
int approval_table_register(ApprovalTable *table, const Actor *who, const char *label, sd_bus_error *reterr);

/** approval_table_foreach_approver() - all of them, in no order */
void approval_table_foreach_approver(
                const ApprovalTable *table, void (*on_approver)(const Approver *approver, void *userdata), void *userdata);

/** approval_table_unregister() - the connection is no approver any more, or left the bus; harmless when it was none */
void approval_table_unregister(ApprovalTable *table, const char *client);
bool approval_table_is_approver(const ApprovalTable *table, const char *client);

/** approval_table_can_ask() - whether somebody other than @requester is there to answer */
bool approval_table_can_ask(const ApprovalTable *table, const char *requester);

/**
 * approval_open() - ask
 * @ret: borrowed until @decided was called
 *
 * Return: 0; ERROR_NO_APPROVER when nobody but the requester could answer; ERROR_LIMIT_EXCEEDED.
 */
int approval_open(
                ApprovalTable *table, const ApprovalRequest *request, ApprovalDecided decided, void *userdata, Approval **ret,
                sd_bus_error *reterr);

/** approval_check_answer() - what approval_answer() would say now, without answering */
int approval_check_answer(
                const ApprovalTable *table, uint64_t id, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr);

/**
 * approval_answer() - a person's answer
 *
 * Return: 0; ERROR_NOT_APPROVER, ERROR_OWN_APPROVAL, ERROR_NO_SUCH_APPROVAL, ERROR_ALREADY_DECIDED (another answer was
 * first), ERROR_WITHDRAWN, ERROR_DIGEST_MISMATCH, ERROR_INVALID_ARGUMENTS.
 */
int approval_answer(
                ApprovalTable *table, uint64_t id, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr);

/** approval_table_withdraw_requester() - a connection left: withdraw every card that it asked for */
void approval_table_withdraw_requester(ApprovalTable *table, const char *requester);

/** approval_table_withdraw_session() - a session ended: withdraw what was asked for it */
void approval_table_withdraw_session(ApprovalTable *table, const char *session);

/**
 * approval_table_withdraw_acts() - a plugin changed or is gone: withdraw the personal acts that are about it
 *
 * What was shown is not true any more. Cards of calls are withdrawn by their calls.
 */
void approval_table_withdraw_acts(ApprovalTable *table, const char *plugin);

/** approval_table_withdraw_call() - take back the card that records know as @call_id; false when none is open */
bool approval_table_withdraw_call(ApprovalTable *table, const char *call_id);

/** approval_withdraw() - take the card back: its callback comes with APPROVAL_WITHDRAWN before this returns */
void approval_withdraw(Approval *approval, const char *reason);

Approval *approval_table_find(const ApprovalTable *table, uint64_t id);
unsigned approval_table_count(const ApprovalTable *table);
void approval_table_foreach(const ApprovalTable *table, void (*each)(Approval *approval, void *userdata), void *userdata);
