/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/install-archive.h"
#include "service/installer.h"
#include "service/remote-source.h"

#define PATH_PREFIX "path:"

static void remove_unpacked(const char *path) {
        g_autofree char *parent = path ? g_path_get_dirname(path) : NULL, *name = path ? g_path_get_basename(path) : NULL;
        _cleanup_close_ int fd = parent ? safe_open_directory(parent) : -EBADF;

        if (fd >= 0)
                (void) safe_remove_tree_at(fd, name);
}

void install_source_sweep(const char *scratch) {
        g_autoptr(GDir) directory = g_dir_open(scratch, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (g_str_has_prefix(name, INSTALL_UNPACKED_PREFIX) || g_str_has_prefix(name, INSTALL_FETCHED_PREFIX)) {
                        g_autofree char *path = g_build_filename(scratch, name, NULL);

                        remove_unpacked(path);
                }
}

InstallSource *install_source_free(InstallSource *source) {
        if (!source)
                return NULL;

        close_fd(&source->root_fd);
        remove_unpacked(source->unpacked);
        bundle_free(source->bundle);
        g_free(source->text);
        g_free(source->root);
        g_free(source->unpacked);
        g_free(source->sha256);
        g_free(source);
        return NULL;
}

static bool has_manifest(int root) {
        for (ManifestFormat format = 0; format < _MANIFEST_FORMAT_MAX; format++) {
                _cleanup_close_ int fd = safe_open_at(root, manifest_format_file(format), O_RDONLY | O_NONBLOCK, 0);

                if (fd >= 0 || fd == -ELOOP)
                        return true;
        }
        return false;
}

/* The only folder in @directory that has a manifest; -ENOENT for none, -ENOTUNIQ for several. */
static int find_inner(const char *path, char **ret) {
        g_autofree char *found = NULL;
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;
        size_t looked_at = 0;

        while (directory && (name = g_dir_read_name(directory)) && looked_at++ < BUNDLES_PER_ROOT_MAX) {
                g_autofree char *inner = g_build_filename(path, name, NULL);
                _cleanup_close_ int fd = safe_open_directory(inner);

                if (fd < 0 || !has_manifest(fd))
                        continue;
                if (found)
                        return -ENOTUNIQ;
                found = g_steal_pointer(&inner);
        }
        if (!found)
                return -ENOENT;

        *ret = g_steal_pointer(&found);
        return 0;
}

/* @shown: what the person named, which may be an archive that lies unpacked in @path */
static int find_root(const char *path, const char *shown, char **ret, sd_bus_error *reterr) {
        _cleanup_close_ int fd = safe_open_directory(path);
        int r;

        if (fd < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s can't be opened as a directory: %s.", path,
                                g_strerror(-fd));
        if (has_manifest(fd)) {
                *ret = g_strdup(path);
                return 0;
        }
        r = find_inner(path, ret);
        if (r == -ENOTUNIQ)
                return errors_set(reterr, ERROR_SEVERAL_BUNDLES,
                                "%s holds several bundles; name the folder of the one to install.", shown);
        if (r < 0)
                return errors_set(reterr, ERROR_NO_BUNDLE, "%s holds no bundle: there is no manifest in it.", shown);
        return 0;
}

static int load(BundleLoad *loading, const InstallSourceOptions *how) {
        int r;

        do {
                r = bundle_load_step(loading);
                if (how->progress)
                        how->progress(bundle_load_get_progress(loading), 0, how->userdata);
        } while (r > 0);
        return r;
}

static int load_root(InstallSource *source, const InstallSourceOptions *how, sd_bus_error *reterr) {
        BundleOptions options = { .extension_host = how->extension_host };
        g_autoptr(BundleLoad) loading = NULL;
        const Diagnostic *error;
        int r;

        source->root_fd = safe_open_directory(source->root);
        if (source->root_fd < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be opened: %s.", source->root, g_strerror(-source->root_fd));

        loading = bundle_load_new(source->root_fd, &options);
        r = load(loading, how);
        if (r >= 0) {
                source->bundle = bundle_load_steal(loading);
                return 0;
        }
        error = diagnostics_first_error(bundle_load_get_diagnostics(loading));
        return errors_set(reterr, r == -EAGAIN ? ERROR_INVALID_BUNDLE : ERROR_INVALID_MANIFEST, "%s%s%s",
                        error && error->path ? error->path : source->unpacked ? "The archive" : source->root, error ? ": " : "",
                        error ? error->message : ": there is no manifest");
}

static int hash_archive(int fd, char **ret_sha256) {
        g_autofree uint8_t *buffer = g_malloc(KIB(64));
        g_autoptr(Sha256) hash = sha256_new();
        ssize_t n;

        while ((n = read(fd, buffer, KIB(64))) > 0)
                sha256_update(hash, buffer, (size_t) n);
        if (n < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return -errno;

        *ret_sha256 = sha256_finish_hex(hash);
        return 0;
}

/* An archive is unpacked where only we can write; from there on it is a directory like any other. */
static int unpack(InstallSource *source, int archive, const char *scratch, sd_bus_error *reterr) {
        _cleanup_close_ int target = -EBADF;
        int r;

        r = hash_archive(archive, &source->sha256);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The archive can't be read: %s.", g_strerror(-r));
        if (g_mkdir_with_parents(scratch, 0700) < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be made: %s.", scratch, g_strerror(errno));
        source->unpacked = g_build_filename(scratch, INSTALL_UNPACKED_PREFIX "XXXXXX", NULL);
        if (!g_mkdtemp_full(source->unpacked, 0700)) {
                r = errno;
                g_clear_pointer(&source->unpacked, g_free);
                return errors_set(reterr, ERROR_IO, "There is no place to unpack: %s.", g_strerror(r));
        }
        target = safe_open_directory(source->unpacked);
        if (target < 0)
                return errors_set(reterr, ERROR_IO, "There is no place to unpack: %s.", g_strerror(-target));
        return install_archive_unpack(archive, target, reterr);
}

static int find_and_load(
                InstallSource *source, const char *path, const InstallSourceOptions *options, sd_bus_error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        g_autofree char *shown = options->fetched ? remote_source_show(source->text) : g_strdup(path);
        struct stat status;
        int r = 0;

        if (fd < 0 || fstat(fd, &status) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s can't be opened: %s.", path, g_strerror(errno));
        if (S_ISREG(status.st_mode) && (uint64_t) status.st_size > BUNDLE_BYTES_MAX)
                return errors_set(reterr, ERROR_TOO_LARGE, "The archive is larger than %zu bytes.", BUNDLE_BYTES_MAX);
        if (S_ISREG(status.st_mode))
                r = unpack(source, fd, options->scratch, reterr);
        else if (!S_ISDIR(status.st_mode))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s is neither a directory nor an archive.", path);
        if (r >= 0)
                r = find_root(source->unpacked ? source->unpacked : path, shown, &source->root, reterr);
        return r < 0 ? r : load_root(source, options, reterr);
}

/* The absolute path of a source on this machine. */
static int find_path(const char *text, char **ret, sd_bus_error *reterr) {
        const char *path = g_str_has_prefix(text, PATH_PREFIX) ? text + strlen(PATH_PREFIX) : text;
        char resolved[PATH_MAX];

        if (*path != '/')
                return errors_set(reterr, ERROR_NOT_SUPPORTED,
                                "'%s' is no source that can be installed from; give the absolute path of a directory or of "
                                "a tar archive.",
                                text);
        if (!g_utf8_validate(path, -1, NULL))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The path of a source must be UTF-8.");
        if (!realpath(path, resolved))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s can't be opened: %s.", path, g_strerror(errno));

        *ret = g_strdup(resolved);
        return 0;
}

int install_source_open(
                const char *text, const InstallSourceOptions *options, InstallSource **ret, sd_bus_error *reterr) {
        g_autoptr(InstallSource) source = NULL;
        g_autofree char *path = g_strdup(options->fetched);
        int r;

        if (!path) {
                r = find_path(text, &path, reterr);
                if (r < 0)
                        return r;
        }

        source = g_new0(InstallSource, 1);
        source->root_fd = -EBADF;
        source->text = options->fetched ? g_strdup(text) : g_strconcat(PATH_PREFIX, path, NULL);
        r = find_and_load(source, path, options, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&source);
        return 0;
}
