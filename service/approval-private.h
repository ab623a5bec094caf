/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of a card. For approval*.c only. */

#include <systemd/sd-event.h>

#include "service/approval-table.h"

struct Approval {
        ApprovalTable *table;
        uint64_t id;
        Actor asker;
        char *kind, *title, *card, *digest, *arguments;
        char *call_id, *session, *plugin, *tool;
        size_t arguments_size;
        char **scopes;
        uint64_t opened_usec;
        sd_event_source *timer;
        ApprovalDecided decided;
        void *userdata;
};

/** approval_new() - with a number of its own; nobody knows of it yet */
Approval *approval_new(
                ApprovalTable *table, uint64_t id, const ApprovalRequest *request, ApprovalDecided decided, void *userdata);

/** approval_free() - for arrays, too */
void approval_free(void *approval);
