/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "cli/client.h"
#include "cli/session-word.h"

#define SESSIONS CLIENT_ROOT "/session/"

char *session_word_to_path(const char *word) {
        if (word[0] == '/')
                return g_strdup(word);
        return g_strconcat(SESSIONS, word[0] == 's' ? word + 1 : word, NULL);
}

char *session_word_to_id(const char *word) {
        if (g_str_has_prefix(word, SESSIONS))
                word += sizeof SESSIONS - 1;
        return g_strconcat(g_ascii_isdigit(word[0]) ? "s" : "", word, NULL);
}
