/* SPDX-License-Identifier: MIT */
#pragma once

/* How personal acts are confirmed: [trust] confirm of the configuration. */

#include <errno.h>

typedef enum ConfirmMethod {
        CONFIRM_AUTO,     /* polkit where it can be reached, else an approver */
        CONFIRM_POLKIT,   /* the person authenticates; no polkit, no act */
        CONFIRM_APPROVER, /* an approver's card */
        CONFIRM_TOKEN,    /* the token of the review alone: for tests and machines without people */
        _CONFIRM_METHOD_MAX,
        _CONFIRM_METHOD_INVALID = -EINVAL,
} ConfirmMethod;

const char *confirm_method_to_string(ConfirmMethod method);
ConfirmMethod confirm_method_from_string(const char *word);
