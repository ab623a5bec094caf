/* SPDX-License-Identifier: MIT */
#pragma once

/* What a core answered, as the extension gets it (contract 6.8): text as text, JSON as compact text and beside it as it
 * is, a note with the counts where the core cut, and nothing else: no path of the core's, no picture. */

#include "common/jdoc.h"

/**
 * core_result_shape() - the result of core/call out of a core's answer
 * @answer:     {"content":[{"type":"text","text"} | {"type":"json","value"} | ...], "is_error"?, "structured"?,
 *              "cut"?:{"original_bytes","kept_bytes"}}; other members and other types of content are left out
 * @ret_json:   {"content":[{"type":"text","text"}...],"is_error","structured"?}; a new string
 * @ret_reason: what is wrong with the answer; a new string, set only on failure
 *
 * More than CORE_TEXT_BYTES_MAX of text is cut here, with its note. Return: 0 or -EBADMSG.
 */
int core_result_shape(Jval answer, char **ret_json, size_t *ret_size, char **ret_reason);

/** core_result_refusal() - why the core did not run it after all ({"refused": words}); NULL when it did. Borrowed */
const char *core_result_refusal(Jval answer);

/** core_result_error() - a result that says that the core could not do it */
char *core_result_error(const char *text, size_t *ret_size);

/** core_result_is_error() - whether a shaped result says so */
bool core_result_is_error(const char *json, size_t size);
