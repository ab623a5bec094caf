/* SPDX-License-Identifier: MIT */
#pragma once

/* The tools of the built-in core. Each gets arguments that fit its schema (service/core-builtin.c) and says what came
 * of it. */

#include "common/jdoc.h"
#include "sandbox/core-tool/answer.h"
#include "sandbox/core-tool/workspace.h"

typedef void (*ToolRun)(const Workspace *workspace, Jval input, Answer *answer);

void tool_read(const Workspace *workspace, Jval input, Answer *answer);
void tool_list_dir(const Workspace *workspace, Jval input, Answer *answer);
void tool_file_search(const Workspace *workspace, Jval input, Answer *answer);
void tool_grep_files(const Workspace *workspace, Jval input, Answer *answer);
void tool_write_file(const Workspace *workspace, Jval input, Answer *answer);
void tool_edit_file(const Workspace *workspace, Jval input, Answer *answer);
void tool_shell(const Workspace *workspace, Jval input, Answer *answer);

/** tool_number() - a whole number among the arguments, or what counts without it */
uint64_t tool_number(Jval input, const char *key, uint64_t fallback, uint64_t max);

/** tool_flag() - a boolean among the arguments; false without it */
bool tool_flag(Jval input, const char *key);
