/* SPDX-License-Identifier: MIT */
#pragma once

/* Points in time as people type and read them. */

#include <stdint.h>

/**
 * when_parse() - a point in time
 * @text:     an age such as 90s, 10m, 2h, 3d; or ISO 8601 such as 2026-01-31T12:00:00, local time unless it
 * says otherwise
 * @now_usec: what ages count from, since 1970
 *
 * Return: 0; -EINVAL when it is neither.
 */
int when_parse(const char *text, uint64_t now_usec, uint64_t *ret_usec);

/** when_parse_span() - a length of time such as 90s, 10m, 2h, 3d, in seconds; -EINVAL when it is none or 0 */
int when_parse_span(const char *text, uint64_t *ret_seconds);

/** when_format() - local date and time to the second; a new string */
char *when_format(uint64_t usec);
