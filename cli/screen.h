/* SPDX-License-Identifier: MIT */
#pragma once

/* A whole terminal screen that is drawn again and again, and what was there before when it ends. */

#include <glib.h>
#include <stdbool.h>

#include "cli/terminal.h"

typedef struct Screen {
        Terminal terminal;
        bool entered;
} Screen;

/** screen_is_possible() - whether we stand in a terminal that can do more than print */
bool screen_is_possible(void);

/** screen_enter() - take the screen over; keys come one by one, without echo. 0 or -errno */
int screen_enter(Screen *screen);

/** screen_leave() - put back what was there; harmless when it was not taken over */
void screen_leave(Screen *screen);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Screen, screen_leave)

/** screen_size() - rows and columns; 24 and 80 when the terminal does not say */
void screen_size(unsigned *ret_rows, unsigned *ret_columns);

/**
 * screen_draw() - show @text, made safe before, from the top; what does not fit below is left out
 *
 * Line after line is cleared and written, never all of it, and in one write: nothing flickers.
 */
void screen_draw(const char *text);
