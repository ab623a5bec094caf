/* SPDX-License-Identifier: MIT */
#pragma once

#include "schema/report.h"

/** reason_keyword() - the keyword that a reason comes from */
const char *reason_keyword(const Reason *reason);

/** reason_place() - JSON Pointer to what is wrong, from the root of the instance; a new string */
char *reason_place(const Reason *reason, Jval instance);

/** reason_text() - what was expected and found; a new string, safe to show */
char *reason_text(const Reason *reason, const Jdoc *doc);

/** subschema_place() - URI and JSON Pointer of a subschema; a new string */
char *subschema_place(const Subschema *sub);
