/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "cli/terminal.h"

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
        return 0;
}

void terminal_leave(Terminal *terminal) {
        if (!terminal->changed)
                return;

        (void) tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal->before);
        terminal->changed = false;
}
