/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sanitize.h"
#include "service/installer.h"

#define PATH_PREFIX "path:"

InstallSource *install_source_free(InstallSource *source) {
        if (!source)
                return NULL;

        g_free(source->text);
        g_free(source->root);
        close_fd(&source->root_fd);
        bundle_free(source->bundle);
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

static int find_root(const char *path, char **ret, sd_bus_error *reterr) {
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
                return errors_set(reterr, ERROR_INVALID_BUNDLE,
                                "%s holds several bundles; name the folder of the one to install.", path);
        if (r < 0)
                return errors_set(reterr, ERROR_INVALID_BUNDLE, "%s holds no bundle: there is no manifest in it.", path);
        return 0;
}

static int load_root(InstallSource *source, bool extension_host, sd_bus_error *reterr) {
        BundleOptions options = { .extension_host = extension_host };
        g_autoptr(BundleLoad) load = NULL;
        const Diagnostic *error;
        int r;

        source->root_fd = safe_open_directory(source->root);
        if (source->root_fd < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be opened: %s.", source->root, g_strerror(-source->root_fd));

        load = bundle_load_new(source->root_fd, &options);
        r = bundle_load_run(load);
        if (r >= 0) {
                source->bundle = bundle_load_steal(load);
                return 0;
        }
        error = diagnostics_first_error(bundle_load_get_diagnostics(load));
        return errors_set(reterr, r == -EAGAIN ? ERROR_INVALID_BUNDLE : ERROR_INVALID_MANIFEST, "%s%s%s",
                        error && error->path ? error->path : source->root, error ? ": " : "",
                        error ? error->message : ": there is no manifest");
}

int install_source_open(const char *text, bool extension_host, InstallSource **ret, sd_bus_error *reterr) {
        g_autoptr(InstallSource) source = NULL;
        const char *path = g_str_has_prefix(text, PATH_PREFIX) ? text + strlen(PATH_PREFIX) : text;
        char resolved[PATH_MAX];
        int r;

        if (*path != '/')
                return errors_set(reterr, ERROR_NOT_SUPPORTED,
                                "'%s' is no source that can be installed from; give the absolute path of a directory.", text);
        if (!g_utf8_validate(path, -1, NULL))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The path of a source must be UTF-8.");
        if (!realpath(path, resolved))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s can't be opened: %s.", path, g_strerror(errno));

        source = g_new0(InstallSource, 1);
        source->root_fd = -EBADF;
        source->text = g_strconcat(PATH_PREFIX, resolved, NULL);
        r = find_root(resolved, &source->root, reterr);
        if (r >= 0)
                r = load_root(source, extension_host, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&source);
        return 0;
}
