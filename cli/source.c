/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "cli/question.h"
#include "cli/source.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

#define SOURCE_SHOWN_BYTES_MAX 512u

static bool is_elsewhere(const char *word) {
        return strstr(word, "://") || g_str_has_prefix(word, "github:");
}

/* The service may stand in another directory, so that paths go to it whole. */
char *source_resolve(const char *word) {
        if (g_str_has_prefix(word, "path:"))
                return g_canonicalize_filename(word + strlen("path:"), NULL);
        return is_elsewhere(word) ? g_strdup(word) : g_canonicalize_filename(word, NULL);
}

bool source_ask(const Cli *cli, const char *what) {
        g_autofree char *shown = sanitize_line(what, SOURCE_SHOWN_BYTES_MAX, NULL), *question = NULL;

        if (cli_has(cli, OPTION_ALLOW_NETWORK))
                return true;
        if (cli_has(cli, OPTION_JSON) || !question_possible())
                return false;
        question = g_strdup_printf("Fetch %s from the network? Nothing of it runs before you trust it.", shown);
        return question_ask(question);
}

bool source_may_fetch(const Cli *cli, const char *source) {
        return is_elsewhere(source) && source_ask(cli, source);
}
