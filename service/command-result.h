/* SPDX-License-Identifier: MIT */
#pragma once

/* What a command answered, as it must come from a host and as the caller gets it (contract 3.17, 4.2). */

#include "common/jdoc.h"

/**
 * command_result_shape() - the JSON for the caller out of a host's result of command/run
 * @command_id: of the call; part of the JSON
 * @ret_reason: what is wrong, in words that go on after "the command failed: "; static
 *
 * success and error carry a text, which only success may leave out, and submit a prompt and perhaps a text. Terminal escapes are
 * taken out of both. A text of over COMMAND_TEXT_BYTES_MAX is cut at a whole character, with a note; a prompt of over
 * COMMAND_PROMPT_BYTES_MAX, and a blank one, are refused.
 *
 * Return: 0 or -EBADMSG.
 */
int command_result_shape(const char *command_id, Jval result, char **ret_json, size_t *ret_size, const char **ret_reason);
