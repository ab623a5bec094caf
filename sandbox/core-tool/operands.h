/* SPDX-License-Identifier: MIT */
#pragma once

/* What a person was shown is what runs: the files that a card named are hashed again here, behind the walls and right
 * before the tool begins, and any difference refuses the call. */

#include "common/jdoc.h"
#include "sandbox/core-tool/answer.h"
#include "sandbox/core-tool/workspace.h"

/**
 * operands_verify() - compare
 * @operands: an array of {"path","sha256"}; "sha256" is "" for a file that was not there
 *
 * Return: true when all are as they were; else the answer is refused.
 */
bool operands_verify(const Workspace *workspace, Jval operands, Answer *answer);
