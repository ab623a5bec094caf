/* SPDX-License-Identifier: MIT */
#pragma once

/* What the reader of commands (command-read.c) and their judge (command.c) both know about words. */

#include <stdbool.h>
#include <stddef.h>

#include "policy/command.h"

/** command_program_name() - a program's name without its path */
const char *command_program_name(const char *word);

/** command_segment_program() - the place of the first word that is no assignment; the number of words when
 * all are */
size_t command_segment_program(const CommandSegment *segment);

/** command_word_is_shell() - whether a program takes a text and runs it as commands */
bool command_word_is_shell(const char *word);
