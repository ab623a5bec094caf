/* SPDX-License-Identifier: MIT */
#pragma once

/* A connection that may answer cards (design 4.1), as people are told of it. */

#include <systemd/sd-bus.h>

#include "service/actor.h"

typedef struct Approver {
        Actor who;
        char *label; /* what it calls itself: told beside what it is, and nothing is decided by it; never NULL */
} Approver;

/**
 * approver_new() - a copy of both
 * @label: may be NULL
 *
 * Return: NULL with ERROR_INVALID_OPTION for a label that could deceive whoever reads it: longer than SESSION_LABEL_BYTES_MAX,
 * more than one line, or with characters that can't be seen or turn the reading.
 */
Approver *approver_new(const Actor *who, const char *label, sd_bus_error *reterr);
void approver_free(void *approver); /* a GDestroyNotify */
