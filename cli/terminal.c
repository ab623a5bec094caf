/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/terminal.h"

/* From now on the terminal puts marks around what is pasted: one pasted letter is then no single key any more. */
#define PASTE_MARKED "\x1b[?2004h"
#define PASTE_PLAIN  "\x1b[?2004l"

static void say(const char *sequence) {
        if (isatty(STDOUT_FILENO)) {
                (void) fputs(sequence, stdout);
                (void) fflush(stdout);
        }
}

void terminal_flush(void) {
        (void) tcflush(STDIN_FILENO, TCIFLUSH);
}

int terminal_enter(Terminal *terminal) {
        struct termios keys;

        if (!terminal->changed && tcgetattr(STDIN_FILENO, &terminal->before) < 0)
                return -errno;

        keys = terminal->before;
        keys.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
        keys.c_cc[VMIN] = 1;
        keys.c_cc[VTIME] = 0;
        if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys) < 0)
                return -errno;

        terminal->changed = true;
        say(PASTE_MARKED);
        return 0;
}

void terminal_leave(Terminal *terminal) {
        if (!terminal->changed)
                return;

        say(PASTE_PLAIN);
        (void) tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal->before);
        terminal->changed = false;
}
