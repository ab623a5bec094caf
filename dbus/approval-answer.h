/* SPDX-License-Identifier: MIT */
#pragma once

/* A person's answer to a card: Approvals.Answer and Approval.Answer read and do the same. */

#include "dbus/face.h"

/** approval_answer_call() - read decision, digest and options, which stand next in @m, answer card @id, answer @m */
int approval_answer_call(Face *face, Caller *caller, sd_bus_message *m, uint64_t id, sd_bus_error *reterr);
