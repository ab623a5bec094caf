/* SPDX-License-Identifier: MIT */
#include "cli/screen.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ENTER      "\033[?1049h\033[?25l\033[?7l" /* the other screen, no cursor, no wrapping */
#define LEAVE      "\033[?7h\033[?25h\033[?1049l"
#define HOME       "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"

static void write_all(const char *text, size_t size) {
        while (size > 0) {
                ssize_t n = write(STDOUT_FILENO, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return;
                text += n;
                size -= (size_t) n;
        }
}

int screen_enter(Screen *screen) {
        int r = terminal_enter(&screen->terminal);

        if (r < 0)
                return r;

        write_all(ENTER, strlen(ENTER));
        screen->entered = true;
        return 0;
}

void screen_leave(Screen *screen) {
        if (screen->entered)
                write_all(LEAVE, strlen(LEAVE));
        screen->entered = false;
        terminal_leave(&screen->terminal);
}

void screen_size(unsigned *ret_rows, unsigned *ret_columns) {
        struct winsize size = { 0 };

        (void) ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
        *ret_rows = size.ws_row > 0 ? size.ws_row : 24;
        *ret_columns = size.ws_col > 0 ? size.ws_col : 80;
}

void screen_draw(const char *text) {
        g_autoptr(GString) out = g_string_new(HOME);
        unsigned rows, columns;

        screen_size(&rows, &columns);
        for (unsigned row = 0; row < rows && *text; row++) {
                size_t size = strcspn(text, "\n");

                g_string_append_len(out, text, (gssize) size);
                g_string_append(out, CLEAR_LINE);
                text += size + (text[size] == '\n');
                if (row + 1 < rows && *text)
                        g_string_append(out, "\r\n");
        }
        g_string_append(out, CLEAR_REST);
        write_all(out->str, out->len);
}
