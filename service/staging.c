/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "service/staged-copy.h"
#include "service/staging.h"
#include "service/tree-copy.h"

#define PENDING_PREFIX ".pending-"

/* In a system service the host is another user; whom the folder above keeps out, it keeps out of these too. */
static const TreeCopyModes sealed = { .directory = 0555, .file = 0444, .executable = 0555 };

void staging_note_erased(TrustReceipt *receipt, const StagingErased *erased, size_t n_erased) {
        for (size_t i = 0; i < n_erased; i++) {
                g_autofree char *path = g_strdup_printf(BUNDLE_ERASED_NAME "/%zu.mjs", i);
                g_autofree char *sha256 = sha256_hex(erased[i].text, erased[i].size);

                trust_receipt_add_erased(receipt, erased[i].path, path, sha256);
        }
}

static int add_erased(int target, const StagingErased *erased, size_t n_erased, const TrustReceipt *receipt) {
        int r;

        assert(receipt->erased->len == n_erased);

        if (n_erased == 0)
                return 0;
        if (mkdirat(target, BUNDLE_ERASED_NAME, 0700) < 0)
                return -errno;
        for (size_t i = 0; i < n_erased; i++) {
                const TrustErased *noted = g_ptr_array_index(receipt->erased, i);

                r = tree_copy_write(target, noted->erased_path, erased[i].text, erased[i].size, sealed.file);
                if (r < 0)
                        return r;
        }
        return tree_copy_seal(target, BUNDLE_ERASED_NAME, sealed.directory);
}

/* Swaps in one step where a copy of that name stands already, so that there is one at every moment. */
static int publish(int folder, const char *pending, const char *name) {
        if (renameat2(folder, pending, folder, name, RENAME_NOREPLACE) == 0)
                return fsync(folder) < 0 ? -errno : 0;
        if (errno != EEXIST)
                return -errno;
        if (renameat2(folder, pending, folder, name, RENAME_EXCHANGE) < 0)
                return -errno;
        if (fsync(folder) < 0)
                return -errno;

        (void) safe_remove_tree_at(folder, pending);
        return 0;
}

static int fill_and_publish(
                int folder, const char *pending, int source, const Bundle *bundle, const StagingErased *erased,
                size_t n_erased, const TrustReceipt *receipt, PluginProgress *progress) {
        _cleanup_close_ int target = -EBADF;
        int r;

        if (mkdirat(folder, pending, 0700) < 0)
                return -errno;
        target = safe_open_at(folder, pending, O_RDONLY | O_DIRECTORY, 0);
        if (target < 0)
                return target;

        r = tree_copy(bundle->tree, source, target, &sealed, progress);
        if (r < 0)
                return r;
        r = add_erased(target, erased, n_erased, receipt);
        if (r < 0)
                return r;
        r = tree_copy_seal(target, "", sealed.directory);
        return r < 0 ? r : publish(folder, pending, receipt->content_hash);
}

int staging_make(
                const CodewhaleHome *home, const char *plugin_id, int source, const Bundle *bundle,
                const StagingErased *erased, size_t n_erased, const TrustReceipt *receipt, PluginProgress *progress,
                sd_bus_error *reterr) {
        g_autofree char *name = staged_copy_folder(plugin_id), *pending = NULL;
        _cleanup_close_ int staged = codewhale_home_make(home, HOME_STAGED), folder = -EBADF;
        uint64_t random;
        int r;

        assert(bundle->tree && strcmp(bundle->content_hash, receipt->content_hash) == 0);

        if (staged < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be used: %s.", codewhale_home_get_path(home, HOME_STAGED),
                                codewhale_home_explain(staged));
        folder = safe_make_directory_at(staged, name, 0700);
        if (folder < 0 || getrandom(&random, sizeof random, 0) != sizeof random)
                return errors_set(reterr, ERROR_IO, "The sealed copy can't be made: %s.",
                                g_strerror(folder < 0 ? -folder : EIO));

        pending = g_strdup_printf(PENDING_PREFIX "%016" G_GINT64_MODIFIER "x", random);
        r = fill_and_publish(folder, pending, source, bundle, erased, n_erased, receipt, progress);
        if (r >= 0)
                return 0;

        (void) safe_remove_tree_at(folder, pending);
        if (r == -ESTALE)
                return errors_set(reterr, ERROR_CONTENT_CHANGED, "The bundle changed while it was copied; review it again.");
        return errors_set(reterr, ERROR_IO, "The sealed copy can't be made: %s.", g_strerror(-r));
}

static char **list_names(int directory) {
        g_autoptr(GStrvBuilder) names = g_strv_builder_new();
        int fd = safe_open_at(directory, ".", O_RDONLY | O_DIRECTORY, 0);
        struct dirent *entry;
        DIR *stream;

        stream = fd >= 0 ? fdopendir(fd) : NULL;
        if (!stream) {
                close_fd(&fd);
                return g_strv_builder_end(names);
        }
        while ((entry = readdir(stream)))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        g_strv_builder_add(names, entry->d_name);
        (void) closedir(stream);
        return g_strv_builder_end(names);
}

/* Whether there is a copy that nobody needs; @remove: all of them go. */
static bool look_for_unneeded(
                const CodewhaleHome *home, bool (*is_needed)(const char *folder, const char *content_hash, void *userdata),
                void *userdata, bool remove) {
        _cleanup_close_ int staged = codewhale_home_open(home, HOME_STAGED);
        g_auto(GStrv) folders = NULL;
        bool found = false;

        if (staged < 0)
                return false;

        folders = list_names(staged);
        for (size_t i = 0; folders[i] && (remove || !found); i++) {
                _cleanup_close_ int folder = safe_open_at(staged, folders[i], O_RDONLY | O_DIRECTORY, 0);
                g_auto(GStrv) copies = NULL;

                if (folder < 0)
                        continue;
                copies = list_names(folder);
                for (size_t j = 0; copies[j]; j++) {
                        if (is_needed(folders[i], copies[j], userdata))
                                continue;
                        found = true;
                        if (remove)
                                (void) safe_remove_tree_at(folder, copies[j]);
                }
                if (remove)
                        (void) unlinkat(staged, folders[i], AT_REMOVEDIR); /* when nothing is left in it */
        }
        return found;
}

void staging_sweep(
                const CodewhaleHome *home, bool (*is_needed)(const char *folder, const char *content_hash, void *userdata),
                void *userdata) {
        (void) look_for_unneeded(home, is_needed, userdata, true);
}

bool staging_has_unneeded(
                const CodewhaleHome *home, bool (*is_needed)(const char *folder, const char *content_hash, void *userdata),
                void *userdata) {
        return look_for_unneeded(home, is_needed, userdata, false);
}
