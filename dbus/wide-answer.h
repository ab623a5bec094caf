/* SPDX-License-Identifier: MIT */
#pragma once

/* A grant wider than one call is a personal act (design 4.2): where polkit confirms those, who answers a card with one proves to be
 * the person first. Elsewhere the answer of an approver is the confirmation. */

#include "dbus/bus-act.h"
#include "service/approval-choice.h"

/** wide_answer_needs_proof() - whether @choice is one that polkit is to be asked about */
bool wide_answer_needs_proof(const Service *service, const ApprovalChoice *choice);

/**
 * wide_answer_begin() - have it confirmed, then answer card @id; answers @m
 *
 * What can't be an answer to the card bothers nobody. The card stays open meanwhile: whoever is first decides.
 *
 * Return: 1; the errors of approval_answer(), ERROR_BUSY.
 */
int wide_answer_begin(Face *face, Caller *caller, sd_bus_message *m, uint64_t id, const ApprovalChoice *choice, sd_bus_error *reterr);

/** wide_answers_card_closed() - there is nothing to confirm any more */
void wide_answers_card_closed(BusServer *server, uint64_t id);
