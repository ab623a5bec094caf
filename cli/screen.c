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

bool screen_is_possible(void) {
        const char *kind = g_getenv("TERM");

        return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
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
                const char *next = text + size + (text[size] == '\n');
                bool last = row + 1 == rows || !*next;

                /* Before the text: behind a line that is full the cursor stands on its last letter, and would clear that. */
                g_string_append(out, last ? CLEAR_REST : CLEAR_LINE);
                g_string_append_len(out, text, (gssize) size);
                if (!last)
                        g_string_append(out, "\r\n");
                text = next;
        }
        write_all(out->str, out->len);
}
