/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "policy/operand.h"

static const char *const path_members[] = {
        "path",
        "file",
        "file_path",
        "filename",
        "target",
        "source",
        "destination",
        "directory",
        "dir",
        "cwd",
};

static const char *const list_members[] = { "paths", "files" };

static const char *const patch_prefixes[] = {
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
        "--- a/",
        "+++ b/",
};

/* Looking goes on for a while when many are the same, and not for ever. */
#define LOOKED_AT_MAX (64u * OPERANDS_MAX)

typedef struct Paths {
        GPtrArray *found;
        unsigned looked_at;
        bool all;
} Paths;

static void add_path(Paths *paths, const char *path) {
        if (!path || *path == '\0' || !paths->all)
                return;
        if (paths->looked_at++ >= LOOKED_AT_MAX) {
                paths->all = false;
                return;
        }
        if (g_ptr_array_find_with_equal_func(paths->found, path, g_str_equal, NULL))
                return;
        if (paths->found->len < OPERANDS_MAX)
                g_ptr_array_add(paths->found, g_strdup(path));
        else
                paths->all = false;
}

static void add_patch_paths(Paths *paths, const char *patch) {
        g_auto(GStrv) lines = g_strsplit(patch, "\n", -1);

        for (char **line = lines; *line; line++)
                for (size_t i = 0; i < G_N_ELEMENTS(patch_prefixes); i++)
                        if (g_str_has_prefix(*line, patch_prefixes[i]))
                                add_path(paths, g_strchomp(*line + strlen(patch_prefixes[i])));
}

static bool is_one_of(Jval key, const char *const *words, size_t n_words) {
        for (size_t i = 0; i < n_words; i++)
                if (jval_equals_text(key, words[i]))
                        return true;
        return false;
}

static void add_list(Paths *paths, Jval list) {
        JIter iter = jval_iterate(list);
        Jval key, item;

        while (jiter_next(&iter, &key, &item))
                add_path(paths, jval_text(item));
}

/* Also within lists of edits and the like: a name is one wherever it stands. Documents are bounded in depth. */
static void add_members(Paths *paths, Jval value) {
        JIter iter = jval_iterate(value);
        Jval key, item;

        while (paths->all && jiter_next(&iter, &key, &item)) {
                if (is_one_of(key, path_members, G_N_ELEMENTS(path_members)))
                        add_path(paths, jval_text(item));
                else if (is_one_of(key, list_members, G_N_ELEMENTS(list_members)))
                        add_list(paths, item);
                if (jval_is(item, J_OBJECT) || jval_is(item, J_ARRAY))
                        add_members(paths, item);
        }
}

GPtrArray *operand_paths(const char *policy_name, Jval arguments, bool *ret_all) {
        Paths paths = { .found = g_ptr_array_new_with_free_func(g_free), .all = true };

        add_members(&paths, arguments);
        if (g_ascii_strcasecmp(policy_name, "apply_patch") == 0) {
                const char *patch = jval_text(jval_member(arguments, "patch"));

                if (!patch)
                        patch = jval_text(jval_member(arguments, "input"));
                if (patch)
                        add_patch_paths(&paths, patch);
        }
        *ret_all = paths.all;
        return paths.found;
}

char *operand_relative(const char *workspace, const char *path) {
        g_autofree char *whole = NULL, *root = NULL;
        size_t size;

        if (!workspace || *workspace != '/' || *path == '\0' || *path == '~')
                return NULL;

        root = g_canonicalize_filename(workspace, "/");
        whole = g_canonicalize_filename(path, root);
        size = strlen(root);
        if (strcmp(root, whole) == 0)
                return g_strdup(".");
        if (strcmp(root, "/") == 0)
                return g_strdup(whole + 1);
        if (strncmp(root, whole, size) != 0 || whole[size] != '/')
                return NULL;
        return g_strdup(whole + size + 1);
}

char *operand_host(Jval arguments) {
        const char *url = jval_text(jval_member(arguments, "url"));
        g_autoptr(GUri) uri = url ? g_uri_parse(url, G_URI_FLAGS_NONE, NULL) : NULL;
        g_autofree char *host = NULL;
        int port;

        if (!uri || !g_uri_get_host(uri) || *g_uri_get_host(uri) == '\0')
                return NULL;

        host = g_ascii_strdown(g_uri_get_host(uri), -1);
        port = g_uri_get_port(uri);
        if (port < 0 || (port == 80 && g_strcmp0(g_uri_get_scheme(uri), "http") == 0) ||
                        (port == 443 && g_strcmp0(g_uri_get_scheme(uri), "https") == 0))
                return g_steal_pointer(&host);
        return g_strdup_printf("%s:%d", host, port);
}

/* Matches one pattern against one text; a star that fails is tried one character later, so no recursion and
 * at worst quadratic time in texts that are bounded. A lone star stops at a slash, a double one does not. */
static bool glob_match(const char *pattern, const char *text) {
        const char *star = NULL, *star_text = NULL, *deep = NULL, *deep_text = NULL;

        for (;;) {
                if (pattern[0] == '*' && pattern[1] == '*') {
                        pattern += 2;
                        if (*pattern == '/')
                                pattern++;
                        deep = pattern;
                        deep_text = text;
                        star = NULL;
                        continue;
                }
                if (*pattern == '*') {
                        star = ++pattern;
                        star_text = text;
                        continue;
                }
                if (*text == '\0' && *pattern == '\0')
                        return true;
                /* A pattern that ends at a directory covers what is below it. */
                if (*pattern == '\0' && *text == '/')
                        return true;
                if (*text != '\0' && (*pattern == *text || (*pattern == '?' && *text != '/'))) {
                        pattern++;
                        text++;
                        continue;
                }
                if (star && *star_text != '\0' && *star_text != '/') {
                        pattern = star;
                        text = ++star_text;
                        continue;
                }
                if (deep && *deep_text != '\0') {
                        pattern = deep;
                        text = ++deep_text;
                        star = NULL;
                        continue;
                }
                return false;
        }
}

bool operand_glob_match(const char *pattern, const char *path) {
        if (!strchr(pattern, '/'))
                for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
                        if (glob_match(pattern, slash + 1))
                                return true;

        return glob_match(pattern, path);
}
