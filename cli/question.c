/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/question.h"
#include "cli/terminal.h"

bool question_possible(void) {
        return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool question_ask(const char *text) {
        char line[16] = "";

        /* What was typed before the question was there is no answer to it. */
        terminal_flush();
        (void) fprintf(stderr, "%s [y/N] ", text);
        (void) fflush(stderr);
        if (!fgets(line, sizeof line, stdin))
                return false;
        g_strstrip(line);
        return g_ascii_strcasecmp(line, "y") == 0 || g_ascii_strcasecmp(line, "yes") == 0;
}
