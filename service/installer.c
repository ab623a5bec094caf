/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/installer.h"
#include "service/marker.h"
#include "service/tree-copy.h"

static const TreeCopyModes placed = { .directory = 0700, .file = 0600, .executable = 0700 };

static int check_source(const InstallSource *source, const char *expected_hash, sd_bus_error *reterr) {
        const Bundle *bundle = source->bundle;
        const Diagnostic *error = diagnostics_first_error(bundle->diagnostics);

        if (error)
                return errors_set(reterr,
                                error->code == DIAGNOSTIC_BUNDLE_SYMLINK ? ERROR_LINK_FOUND : ERROR_INVALID_BUNDLE, "%s%sIt has an error (%s): %s", error->path ? error->path : "",
                                error->path ? ": " : "", diagnostic_code_to_string(error->code), error->message);
        if (bundle->tree->n_bytes > INSTALL_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The bundle has %" PRIu64 " bytes; at most %zu are installed.",
                                bundle->tree->n_bytes, INSTALL_BYTES_MAX);
        if (expected_hash && strcmp(expected_hash, bundle->content_hash) != 0)
                return errors_set(reterr, ERROR_CONTENT_CHANGED,
                                "The bundle is not the one that was previewed: its content hash is %s.",
                                bundle->content_hash);
        return 0;
}

static int write_marker(int target, const InstallSource *source) {
        Marker marker = {
                .source = source->text,
                .content_hash = source->bundle->content_hash,
                .download_sha256 = source->sha256,
                .installed_at = (int64_t) time(NULL),
        };

        return marker_write(target, &marker);
}

static int fill(int plugins, const char *staging, const InstallSource *source) {
        _cleanup_close_ int target = -EBADF;
        int r;

        if (mkdirat(plugins, staging, 0700) < 0)
                return -errno;
        target = safe_open_at(plugins, staging, O_RDONLY | O_DIRECTORY, 0);
        if (target < 0)
                return target;

        r = tree_copy(source->bundle->tree, source->root_fd, target, &placed, NULL);
        if (r >= 0)
                r = write_marker(target, source);
        if (r >= 0)
                r = tree_copy_seal(target, "", placed.directory);
        return r;
}

/* The marker is in the folder before it gets its name, so a bundle of ours is never without one. */
static int fill_and_publish(int plugins, const char *staging, const InstallSource *source) {
        int r = fill(plugins, staging, source);

        if (r >= 0 && renameat2(plugins, staging, plugins, source->bundle->manifest->name, RENAME_NOREPLACE) < 0)
                r = -errno;
        if (r >= 0 && fsync(plugins) < 0)
                r = -errno;
        return r;
}

static char *new_staging_name(void) {
        uint64_t random;

        if (getrandom(&random, sizeof random, 0) != sizeof random)
                return NULL;
        return g_strdup_printf(INSTALLER_STAGING_PREFIX "%016" G_GINT64_MODIFIER "x", random);
}

static int fail(int plugins, const char *staging, const char *name, int r, sd_bus_error *reterr) {
        (void) safe_remove_tree_at(plugins, staging);
        if (r == -EEXIST)
                return errors_set(reterr, ERROR_ALREADY_INSTALLED, "There is something of the name %s already.", name);
        if (r == -ESTALE)
                return errors_set(reterr, ERROR_CONTENT_CHANGED, "The bundle changed while it was copied.");
        return errors_set(reterr, ERROR_IO, "The bundle can't be placed: %s.", g_strerror(-r));
}

int installer_place(int plugins, const InstallSource *source, const char *expected_hash, sd_bus_error *reterr) {
        const char *name = source->bundle->manifest->name;
        g_autofree char *staging = new_staging_name();
        struct stat status;
        int r;

        r = check_source(source, expected_hash, reterr);
        if (r < 0)
                return r;
        if (fstatat(plugins, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
                return errors_set(reterr, ERROR_ALREADY_INSTALLED, "There is something of the name %s already.", name);
        if (!staging)
                return errors_set(reterr, ERROR_IO, "There is no random number.");

        r = fill_and_publish(plugins, staging, source);
        return r < 0 ? fail(plugins, staging, name, r, reterr) : 0;
}

/* The marker of the bundle in @folder, which says that it is ours */
static int open_marker(int plugins, const char *folder, Marker **ret, sd_bus_error *reterr) {
        _cleanup_close_ int root = safe_open_at(plugins, folder, O_RDONLY | O_DIRECTORY, 0);
        int r;

        if (root < 0)
                return errors_set(reterr, ERROR_IO, "The bundle can't be opened: %s.", g_strerror(-root));
        r = marker_read(root, ret);
        if (r < 0)
                return errors_set(reterr, ERROR_NOT_INSTALLED_BY_US,
                                "The bundle was not put there by an install%s, so it is left alone.",
                                r == -ENOENT ? "" : " (its marker is unreadable)");
        return 0;
}

static int fill_and_exchange(int plugins, const char *staging, const char *folder, const InstallSource *source) {
        int r = fill(plugins, staging, source);

        if (r >= 0 && renameat2(plugins, staging, plugins, folder, RENAME_EXCHANGE) < 0)
                r = -errno;
        if (r >= 0 && fsync(plugins) < 0)
                r = -errno;
        return r;
}

int installer_replace(
                int plugins, const char *folder, const InstallSource *source, const char *expected_hash,
                sd_bus_error *reterr) {
        g_autofree char *staging = new_staging_name();
        g_autoptr(Marker) marker = NULL;
        int r;

        r = open_marker(plugins, folder, &marker, reterr);
        if (r >= 0)
                r = check_source(source, expected_hash, reterr);
        if (r < 0)
                return r;
        if (strcmp(marker->content_hash, source->bundle->content_hash) == 0)
                return 0;
        if (!staging)
                return errors_set(reterr, ERROR_IO, "There is no random number.");

        r = fill_and_exchange(plugins, staging, folder, source);
        if (r < 0)
                return fail(plugins, staging, folder, r, reterr);
        (void) safe_remove_tree_at(plugins, staging);
        return 1;
}

int installer_remove(int plugins, const char *name, sd_bus_error *reterr) {
        g_autofree char *gone = g_strconcat(INSTALLER_GONE_PREFIX, name, NULL);
        g_autoptr(Marker) marker = NULL;
        int r;

        r = open_marker(plugins, name, &marker, reterr);
        if (r < 0)
                return r;

        /* An earlier one of that name may still lie there. */
        (void) safe_remove_tree_at(plugins, gone);
        if (renameat2(plugins, name, plugins, gone, RENAME_NOREPLACE) < 0 || fsync(plugins) < 0)
                return errors_set(reterr, ERROR_IO, "The bundle can't be taken away: %s.", g_strerror(errno));
        return 0;
}

static char *read_name(int plugins, const char *folder) {
        _cleanup_close_ int root = safe_open_at(plugins, folder, O_RDONLY | O_DIRECTORY, 0);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();

        for (ManifestFormat format = 0; root >= 0 && format < _MANIFEST_FORMAT_MAX; format++) {
                g_autoptr(Manifest) manifest = NULL;
                g_autofree char *text = NULL;
                size_t size = 0;

                if (safe_read_at(root, manifest_format_file(format), MANIFEST_BYTES_MAX, &text, &size) < 0)
                        continue;
                if (manifest_parse(format, text, size, diagnostics, &manifest) < 0)
                        return NULL;
                return g_strdup(manifest->name);
        }
        return NULL;
}

static void sweep_one(
                int plugins, const char *folder, void (*on_gone)(const char *folder, const char *name, void *userdata),
                void *userdata) {
        if (on_gone && g_str_has_prefix(folder, INSTALLER_GONE_PREFIX)) {
                g_autofree char *name = read_name(plugins, folder);

                if (name)
                        on_gone(folder + strlen(INSTALLER_GONE_PREFIX), name, userdata);
        }
        (void) safe_remove_tree_at(plugins, folder);
}

void installer_sweep(
                int plugins, void (*on_gone)(const char *folder, const char *name, void *userdata), void *userdata) {
        g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
        int fd = safe_open_at(plugins, ".", O_RDONLY | O_DIRECTORY, 0);
        struct dirent *entry;
        DIR *stream;

        stream = fd >= 0 ? fdopendir(fd) : NULL;
        if (!stream) {
                close_fd(&fd);
                return;
        }
        while ((entry = readdir(stream)))
                if (g_str_has_prefix(entry->d_name, INSTALLER_STAGING_PREFIX))
                        g_ptr_array_add(folders, g_strdup(entry->d_name));
        (void) closedir(stream);

        for (size_t i = 0; i < folders->len; i++)
                sweep_one(plugins, g_ptr_array_index(folders, i), on_gone, userdata);
}
