/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "service/runtime.h"

static const char *const runtime_kind_table[_RUNTIME_KIND_MAX] = {
        [RUNTIME_NODE] = "node",
        [RUNTIME_BUN] = "bun",
        [RUNTIME_AUTO] = "auto",
};

const char *runtime_kind_to_string(RuntimeKind kind) {
        return runtime_kind_table[kind];
}

RuntimeKind runtime_kind_from_string(const char *word) {
        for (int i = 0; i < _RUNTIME_KIND_MAX; i++)
                if (g_strcmp0(word, runtime_kind_table[i]) == 0)
                        return i;

        return _RUNTIME_KIND_INVALID;
}

int runtime_version_parse(const char *text, unsigned ret[static 3]) {
        unsigned version[3];

        if (*text == 'v')
                text++;
        for (int i = 0; i < 3; i++) {
                uint64_t number;
                char *end;

                if (!g_ascii_isdigit(*text))
                        return -EINVAL;
                number = g_ascii_strtoull(text, &end, 10);
                if (number > 99999 || (i < 2 && *end != '.'))
                        return -EINVAL;
                version[i] = (unsigned) number;
                text = end + (i < 2);
        }
        /* A pre-release is another program than the version that it precedes. */
        if (*text != '\0' && *text != '\n' && *text != '\r')
                return -EINVAL;

        memcpy(ret, version, sizeof version);
        return 0;
}

bool runtime_version_meets_floor(RuntimeKind kind, const unsigned version[static 3]) {
        if (kind == RUNTIME_BUN)
                return version[0] > 1 || (version[0] == 1 && version[1] >= 4);

        return (version[0] == 22 && version[1] >= 19) || version[0] >= 24;
}

static bool is_inside(const char *path, const char *directory) {
        size_t length = strlen(directory);

        return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static const char *reason_to_skip(const char *directory, const char *working_directory, const char *home) {
        bool in_working = strcmp(working_directory, "/") != 0 && !is_inside(home, working_directory) &&
                        is_inside(directory, working_directory);

        if (directory[0] != '/')
                return "is relative";
        if (strstr(directory, "/node_modules/") || g_str_has_suffix(directory, "/node_modules"))
                return "is inside a node_modules folder";
        return in_working ? "is inside the working directory" : NULL;
}

static void add_candidate(GPtrArray *candidates, const char *path) {
        g_autofree char *canonical = realpath(path, NULL);

        if (!canonical || access(canonical, X_OK) < 0)
                return;
        for (size_t i = 0; i < candidates->len; i++)
                if (strcmp(g_ptr_array_index(candidates, i), canonical) == 0)
                        return;
        g_ptr_array_add(candidates, g_steal_pointer(&canonical));
}

/* One folder that may have a runtime in it. */
static void consider(
                GPtrArray *candidates, RuntimeKind kind, const char *folder, const char *directory, const char *home,
                GPtrArray *ret_skipped) {
        const char *skip = folder[0] ? reason_to_skip(folder, directory, home) : "is empty";
        g_autofree char *path = g_build_filename(folder, runtime_kind_to_string(kind), NULL);

        if (!skip)
                add_candidate(candidates, path);
        else if (ret_skipped && access(path, X_OK) == 0)
                g_ptr_array_add(ret_skipped, g_strdup_printf("%s: PATH entry %s", path, skip));
}

char **runtime_candidates(const RuntimeConfig *config, const char *directory, const char *home, GPtrArray *ret_skipped) {
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        g_auto(GStrv) parts = g_strsplit(config->search_path ?: "", ":", 256);
        const char *configured = config->kind == RUNTIME_BUN ? config->bun : config->node;

        if (configured) {
                /* The person's explicit choice is the only candidate; if it fails, that is what is reported. */
                g_ptr_array_add(candidates, g_strdup(configured));
                g_ptr_array_add(candidates, NULL);
                return (char **) g_ptr_array_free(g_steal_pointer(&candidates), FALSE);
        }

        for (char **part = parts; *part; part++)
                consider(candidates, config->kind, *part, directory, home, ret_skipped);
        if (config->kind == RUNTIME_BUN) {
                g_autofree char *installed = config->bun_install ? g_build_filename(config->bun_install, "bin", NULL)
                                                                 : g_build_filename(home, ".bun", "bin", NULL);

                consider(candidates, config->kind, installed, directory, home, ret_skipped);
        }
        g_ptr_array_add(candidates, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&candidates), FALSE);
}
