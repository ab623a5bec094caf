/* SPDX-License-Identifier: MIT */

/* Shell command lines: never a crash, and never plain when an operator stands outside quotes. */

#include <string.h>

#include "common/limits.h"
#include "fuzz.h"
#include "policy/auto-review.h"
#include "policy/command-path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autoptr(Command) command = command_parse(text);
        g_autofree char *family = command_family(command);
        g_auto(GStrv) words = command_words(text);
        const ReviewSubject subject = {
                .policy_name = "exec_shell", .category = CATEGORY_SHELL, .command = command
        };
        bool all;
        g_autoptr(GPtrArray) paths = command_paths(command, "/w/s", "sub", &all);
        const char *why = NULL;

        if (command_is_plain(command)) {
                const CommandSegment *only = command->segments->pdata[0];
                g_autoptr(GPtrArray) prefix = g_ptr_array_new();

                if (!strpbrk(text, "'\"\\#"))
                        MUST(!strpbrk(text, "$`;|&()<>*?"));
                for (guint i = 0; i < only->words->len; i++)
                        g_ptr_array_add(prefix, only->words->pdata[i]);
                g_ptr_array_add(prefix, NULL);
                MUST(command_segment_begins(only, (char **) prefix->pdata));
                MUST(command_runs(command, (char **) prefix->pdata));
        }
        for (guint i = 0; i < paths->len; i++) {
                const char *path = paths->pdata[i];

                MUST(path[0] != '/' && path[0] != '\0' && strcmp(path, "..") != 0 && !g_str_has_prefix(path, "../"));
        }
        MUST(paths->len <= COMMAND_PATHS_MAX && (!command->cut || !all));
        MUST(!family || command_is_plain(command));
        MUST(!words || words[0]);
        (void) auto_review_find(NULL, &subject, &why, NULL);
        MUST(why);
        return 0;
}
