/* SPDX-License-Identifier: MIT */
#pragma once

/* One record of the decision log as a line of JSON. */

#include <stddef.h>

#include "storage/decision-log.h"

/** decision_record_encode() - the line with its line end, at most DECISION_RECORD_BYTES_MAX bytes; a new
 * text */
char *decision_record_encode(const DecisionRecord *record, size_t *ret_size);
