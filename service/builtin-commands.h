/* SPDX-License-Identifier: MIT */
#pragma once

/** builtin_commands - words that every agent answers itself, the two permanent aliases of its modes among them: no plugin may
 * register a command of that name, also before the first session said what it has (contract 4.2, 4.2.1). Ends with NULL. */
extern const char *const builtin_commands[];
