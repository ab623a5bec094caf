/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "policy/command-path.h"
#include "policy/operand.h"

#define PLACES_MAX 64u

typedef struct Search {
        const char *workspace;
        GPtrArray *places; /* absolute folders from which a word may be meant */
        GHashTable *seen;  /* borrowed from @found */
        GPtrArray *found;
        size_t bytes; /* that were looked at: far folders and many words would hold up everybody */
        bool all;
} Search;

static void add_path(Search *search, const char *place, const char *word) {
        g_autofree char *whole = NULL, *relative = NULL;

        search->bytes += strlen(place) + strlen(word);
        if (search->bytes > COMMAND_PATHS_BYTES_MAX) {
                search->all = false;
                return;
        }
        whole = g_canonicalize_filename(word, place);
        relative = operand_relative(search->workspace, whole);
        if (!relative || strcmp(relative, ".") == 0 || g_hash_table_contains(search->seen, relative))
                return;
        if (search->found->len >= COMMAND_PATHS_MAX) {
                search->all = false;
                return;
        }
        g_hash_table_add(search->seen, relative);
        g_ptr_array_add(search->found, g_steal_pointer(&relative));
}

static void add_word(Search *search, const char *word) {
        const char *value = strchr(word, '=');
        const char *const parts[] = {
                word,
                value ? value + 1 : NULL,
                word[0] == '@' ? word + 1 : NULL,
                word[0] == '-' && word[1] != '\0' && word[1] != '-' ? word + 2 : NULL,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
                if (parts[i] && parts[i][0] != '\0' && parts[i][0] != '~')
                        for (guint k = 0; k < search->places->len; k++)
                                add_path(search, search->places->pdata[k], parts[i]);
}

/* From wherever it was before, which is known only when it runs. */
static void add_place(Search *search, const char *word) {
        for (guint i = 0, n = search->places->len; i < n; i++) {
                g_autofree char *place = g_canonicalize_filename(word, search->places->pdata[i]);

                if (g_ptr_array_find_with_equal_func(search->places, place, g_str_equal, NULL))
                        continue;
                if (search->places->len >= PLACES_MAX) {
                        search->all = false;
                        return;
                }
                g_ptr_array_add(search->places, g_steal_pointer(&place));
        }
}

/* The folder that this word says, alone or together with the next one; NULL for none. */
static const char *place_of(const CommandSegment *segment, guint at) {
        static const char *const words[] = { "cd", "pushd", "-C", "-D", "--directory", "--chdir", "--cwd" };
        const char *word = segment->words->pdata[at], *value = strchr(word, '=');
        size_t size = value ? (size_t) (value - word) : strlen(word);

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (strlen(words[i]) == size && strncmp(words[i], word, size) == 0)
                        return value ? value + 1 : at + 1 < segment->words->len ? segment->words->pdata[at + 1] : NULL;
        return strncmp(word, "-C", 2) == 0 ? word + 2 : NULL;
}

static void find_places(Search *search, const Command *command, const char *cwd) {
        g_ptr_array_add(search->places, g_strdup(search->workspace));
        if (cwd && cwd[0] != '\0')
                add_place(search, cwd);
        for (guint i = 0; i < command->segments->len; i++) {
                const CommandSegment *segment = command->segments->pdata[i];

                for (guint k = 0; k < segment->words->len; k++) {
                        const char *place = place_of(segment, k);

                        if (place && place[0] != '\0' && place[0] != '~')
                                add_place(search, place);
                }
        }
}

GPtrArray *command_paths(const Command *command, const char *workspace, const char *cwd, bool *ret_all) {
        g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        Search search = {
                .workspace = workspace,
                .places = places,
                .seen = seen,
                .found = g_ptr_array_new_with_free_func(g_free),
                .all = !command->cut,
        };

        find_places(&search, command, cwd);
        for (guint i = 0; i < command->segments->len; i++) {
                const CommandSegment *segment = command->segments->pdata[i];

                for (guint k = 0; k < segment->words->len; k++)
                        add_word(&search, segment->words->pdata[k]);
        }
        for (guint i = 0; i < command->targets->len; i++)
                add_word(&search, command->targets->pdata[i]);
        *ret_all = search.all;
        return search.found;
}

bool command_is_computed(const Command *command) {
        bool computed = command->unclear;

        for (guint i = 0; i < command->segments->len; i++)
                computed |= ((const CommandSegment *) command->segments->pdata[i])->dynamic;
        return computed;
}
