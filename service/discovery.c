/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/discovery.h"

#define ID_DOMAIN      "codewhale-extensions-plugin-id-v1"
#define STAGING_PREFIX ".staging-"
#define ID_HEX_CHARS   12

/* Files of ours beside the bundles are not counted as bundles, so leave room for them. */
#define NAMES_MAX (2 * BUNDLES_PER_ROOT_MAX)

static void entry_free(void *data) {
        DiscoveryEntry *entry = data;

        g_free(entry->workspace);
        g_free(entry->path);
        g_free(entry);
}

char *discovery_plugin_id(PluginScope scope, const char *canonical_path, const char *name) {
        g_autoptr(Sha256) hash = sha256_new();
        g_autofree char *hex = NULL;

        sha256_update_text(hash, ID_DOMAIN);
        sha256_update_text(hash, plugin_scope_to_string(scope));
        sha256_update(hash, canonical_path, strlen(canonical_path));
        hex = sha256_finish_hex(hash);
        return g_strdup_printf("%s/%.*s/%s", plugin_scope_to_string(scope), ID_HEX_CHARS, hex, name);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The names in a directory, sorted; 0, -E2BIG or -errno. */
static int read_names(int directory, GPtrArray **ret) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        int fd = safe_open_at(directory, ".", O_RDONLY | O_DIRECTORY, 0);
        struct dirent *entry;
        DIR *stream;
        int r = 0;

        stream = fd >= 0 ? fdopendir(fd) : NULL;
        if (!stream) {
                close_fd(&fd);
                return fd < 0 ? fd : -ENOMEM;
        }
        while (errno = 0, (entry = readdir(stream))) {
                if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                        continue;
                if (names->len >= NAMES_MAX) {
                        r = -E2BIG;
                        break;
                }
                g_ptr_array_add(names, g_strdup(entry->d_name));
        }
        if (r == 0)
                r = -errno;
        (void) closedir(stream);
        if (r < 0)
                return r;

        g_ptr_array_sort(names, compare_names);
        *ret = g_steal_pointer(&names);
        return 0;
}

static void add_child(
                const DiscoveryRoot *root, int directory, const char *canonical, const char *name, GPtrArray *entries,
                Diagnostics *diagnostics) {
        g_autofree char *path = g_build_filename(canonical, name, NULL);
        DiscoveryEntry *entry;
        struct stat status;

        if (g_str_has_prefix(name, STAGING_PREFIX) || fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        if (S_ISLNK(status.st_mode)) {
                diagnostics_add(diagnostics, DIAGNOSTIC_BUNDLE_SYMLINK, path, "A bundle must not be a link.");
                return;
        }
        if (!S_ISDIR(status.st_mode))
                return;

        entry = g_new0(DiscoveryEntry, 1);
        entry->scope = root->scope;
        entry->workspace = g_strdup(root->workspace);
        entry->path = g_steal_pointer(&path);
        g_ptr_array_add(entries, entry);
}

static void list_children(const DiscoveryRoot *root, const char *canonical, GPtrArray *entries, Diagnostics *diagnostics) {
        _cleanup_close_ int directory = safe_open_directory(canonical);
        g_autoptr(GPtrArray) names = NULL;
        size_t before = entries->len;
        int r;

        r = directory < 0 ? directory : read_names(directory, &names);
        if (r < 0) {
                diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_READ_FAILED, root->path, "%s",
                                r == -E2BIG ? "There are too many files in it." : g_strerror(-r));
                return;
        }
        for (size_t i = 0; i < names->len; i++) {
                if (entries->len - before >= BUNDLES_PER_ROOT_MAX) {
                        diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_READ_FAILED, root->path,
                                        "Only the first %u bundles are looked at.", BUNDLES_PER_ROOT_MAX);
                        return;
                }
                add_child(root, directory, canonical, g_ptr_array_index(names, i), entries, diagnostics);
        }
}

static void list_root(const DiscoveryRoot *root, GHashTable *seen, GPtrArray *entries, Diagnostics *diagnostics) {
        char resolved[PATH_MAX];
        struct stat status;

        if (lstat(root->path, &status) < 0) {
                if (errno != ENOENT && errno != ENOTDIR)
                        diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_READ_FAILED, root->path, "%s", g_strerror(errno));
                return;
        }
        if (S_ISLNK(status.st_mode)) {
                diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_SYMLINK, root->path, "A folder of bundles must not be a link.");
                return;
        }
        if (!S_ISDIR(status.st_mode)) {
                diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_NOT_DIRECTORY, root->path, "It is no directory.");
                return;
        }
        if (!realpath(root->path, resolved)) {
                diagnostics_add(diagnostics, DIAGNOSTIC_ROOT_CANONICALIZE_FAILED, root->path, "%s", g_strerror(errno));
                return;
        }
        if (!g_hash_table_add(seen, g_strdup(resolved))) {
                diagnostics_add(diagnostics, DIAGNOSTIC_DUPLICATE_ROOT, root->path,
                                "It is the same directory as another folder of bundles and is looked at once.");
                return;
        }
        list_children(root, resolved, entries, diagnostics);
}

GPtrArray *discovery_list(const DiscoveryRoot *roots, size_t n_roots, Diagnostics *diagnostics) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GPtrArray *entries = g_ptr_array_new_with_free_func(entry_free);

        for (size_t i = 0; i < n_roots; i++)
                list_root(&roots[i], seen, entries, diagnostics);
        return entries;
}
