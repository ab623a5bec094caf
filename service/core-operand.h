/* SPDX-License-Identifier: MIT */
#pragma once

/* What a card is bound to (design 4.1, issue of what was approved and what runs): the files of the workspace that a core
 * call names, as they are when the card is made. They are read in a process of their own, never in the daemon's loop. */

#include "service/session-core.h"
#include "service/worker.h"

/**
 * core_operand_names() - the files that a call names, by its text alone
 * @policy_name: of the call
 * @ret_all: false when there are too many, or the command is too long to be looked at: no card can be bound to them
 *
 * Of a shell command all that command_paths() finds. Return: a new array of relative paths, possibly empty.
 */
GPtrArray *core_operand_names(const char *policy_name, const char *workspace, Jval input, bool *ret_all);

/** core_operand_is_computed() - whether a command also names what only the shell will know, and no card can be bound to */
bool core_operand_is_computed(const char *policy_name, Jval input);

#define CORE_OPERANDS_TOO_MANY "The call names too many files to be bound to an approval; ask for less at a time."

/* What comes of looking at them. @operands belongs to whoever is called; NULL when @r is negative. */
typedef void (*CoreOperandsDone)(int r, GPtrArray *operands, const char *error, void *userdata);

typedef struct CoreOperandReader CoreOperandReader;

/**
 * core_operand_read() - open and hash them
 * @names: as above
 * @shell: a word that is no file is just a word, so only files are kept; else a missing file is kept as missing
 *
 * Return: 0 or -errno; @done comes once, from the loop, unless the reader is freed before.
 */
int core_operand_read(
                sd_event *event, const char *workspace, const GPtrArray *names, bool shell, CoreOperandsDone done, void *userdata,
                CoreOperandReader **ret);
CoreOperandReader *core_operand_reader_free(CoreOperandReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CoreOperandReader, core_operand_reader_free)
