/* SPDX-License-Identifier: MIT */
#pragma once

/* The terminal while single keys are read: no echo, no lines. It is always put back, also when a signal ends
 * us. */

#include <stdbool.h>
#include <termios.h>

typedef struct Terminal {
        struct termios before;
        bool changed;
} Terminal;

/** terminal_enter() - read single keys from standard input from now on; what was typed before is dropped. 0
 * or -errno */
int terminal_enter(Terminal *terminal);

/** terminal_leave() - put it back; harmless when nothing was changed */
void terminal_leave(Terminal *terminal);

/** terminal_flush() - drop what was typed and not read */
void terminal_flush(void);
