/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/archive-library.h"
#include "service/install-archive.h"
#include "service/text-rule.h"

#define READ_BYTES KIB(64)

typedef struct archive Archive;

static void close_archive(Archive *archive) {
        (void) archive_library_get()->archive_read_free(archive);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, close_archive)

typedef struct Unpack {
        const ArchiveLibrary *library;
        Archive *archive;
        int target;
        size_t n_entries;
        uint64_t n_bytes;
        sd_bus_error *reterr;
} Unpack;

static int refuse(Unpack *unpack, const char *path, const char *why) {
        return errors_set(unpack->reterr, ERROR_INVALID_BUNDLE, "The archive is refused: '%s' %s.", path ? path : "", why);
}

static int refuse_as(Unpack *unpack, const char *name, const char *path, const char *why) {
        return errors_set(unpack->reterr, name, "The archive is refused: '%s' %s.", path, why);
}

static bool leads_outside(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        return path[0] == '/' || g_strv_contains((const char *const *) parts, "..");
}

static int fail(Unpack *unpack, const char *path, int error) {
        if (error == -EEXIST)
                return refuse(unpack, path, "stands in it twice");
        if (error == -ELOOP || error == -ENOTDIR || error == -EXDEV)
                return refuse(unpack, path, "leads through something that is no directory");
        return errors_set(unpack->reterr, ERROR_IO, "'%s' can't be unpacked: %s.", path, g_strerror(-error));
}

/* "./a/" and "a" are the same there; NULL for the folder itself. */
static char *plain_path(const char *path) {
        g_autofree char *plain = NULL;
        size_t length;

        while (g_str_has_prefix(path, "./"))
                path += 2;
        plain = g_strdup(path);
        length = strlen(plain);
        if (length > 0 && plain[length - 1] == '/')
                plain[length - 1] = '\0';
        return *plain == '\0' || strcmp(plain, ".") == 0 ? NULL : g_steal_pointer(&plain);
}

static int write_all(int fd, const uint8_t *data, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, data, size);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0) {
                        data += n;
                        size -= (size_t) n;
                }
        }
        return 0;
}

static int copy_data(Unpack *unpack, const char *path, int fd) {
        g_autofree uint8_t *buffer = g_malloc(READ_BYTES);

        for (;;) {
                la_ssize_t n = unpack->library->archive_read_data(unpack->archive, buffer, READ_BYTES);
                int r;

                if (n < 0)
                        return refuse(unpack, path, "is damaged");
                if (n == 0)
                        return 0;
                unpack->n_bytes += (uint64_t) n;
                if (unpack->n_bytes > INSTALL_BYTES_MAX)
                        return errors_set(unpack->reterr, ERROR_TOO_LARGE,
                                        "The archive has more than %zu bytes unpacked.", INSTALL_BYTES_MAX);
                r = write_all(fd, buffer, (size_t) n);
                if (r < 0)
                        return fail(unpack, path, r);
        }
}

static int unpack_file(Unpack *unpack, const char *path, mode_t mode) {
        g_autofree char *parent = g_path_get_dirname(path);
        _cleanup_close_ int folder = -EBADF, fd = -EBADF;

        folder = safe_make_directory_at(unpack->target, parent, 0700);
        if (folder < 0)
                return fail(unpack, path, folder);
        fd = safe_open_at(unpack->target, path, O_WRONLY | O_CREAT | O_EXCL, mode & 0111 ? 0700 : 0600);
        if (fd < 0)
                return fail(unpack, path, fd);
        return copy_data(unpack, path, fd);
}

static int unpack_directory(Unpack *unpack, const char *path) {
        _cleanup_close_ int fd = safe_make_directory_at(unpack->target, path, 0700);

        return fd < 0 ? fail(unpack, path, fd) : 0;
}

static int unpack_entry(Unpack *unpack, struct archive_entry *entry) {
        const ArchiveLibrary *library = unpack->library;
        const char *name = library->archive_entry_pathname_utf8(entry);
        g_autofree char *path = name ? plain_path(name) : NULL;
        const char *problem;
        mode_t type;

        if (!name)
                return refuse(unpack, NULL, "has a name that is not UTF-8");
        type = library->archive_entry_filetype(entry);
        if (library->archive_entry_hardlink(entry) || type == AE_IFLNK)
                return refuse_as(unpack, ERROR_LINK_FOUND, name, "is a link");
        if (type != AE_IFREG && type != AE_IFDIR)
                return refuse(unpack, name, "is neither a file nor a directory");
        if (++unpack->n_entries > 2 * BUNDLE_FILES_MAX)
                return errors_set(unpack->reterr, ERROR_TOO_LARGE, "The archive has too many entries.");
        if (!path)
                return 0;

        problem = text_rule_check_path(path);
        if (problem)
                return refuse_as(unpack, leads_outside(path) ? ERROR_PATH_TRAVERSAL : ERROR_INVALID_BUNDLE, name, problem);
        return type == AE_IFDIR ? unpack_directory(unpack, path)
                                : unpack_file(unpack, path, library->archive_entry_perm(entry));
}

static Archive *open_archive(const ArchiveLibrary *library, int fd) {
        g_autoptr(Archive) archive = library->archive_read_new();

        if (!archive)
                return NULL;
        (void) library->archive_read_support_format_tar(archive);
        (void) library->archive_read_support_filter_gzip(archive);
        (void) library->archive_read_support_filter_bzip2(archive);
        (void) library->archive_read_support_filter_xz(archive);
        (void) library->archive_read_support_filter_zstd(archive);
        return library->archive_read_open_fd(archive, fd, READ_BYTES) == ARCHIVE_OK ? g_steal_pointer(&archive) : NULL;
}

int install_archive_unpack(int fd, int target, sd_bus_error *reterr) {
        const ArchiveLibrary *library = archive_library_get();
        g_autoptr(Archive) archive = library ? open_archive(library, fd) : NULL;
        Unpack unpack = { .library = library, .archive = archive, .target = target, .reterr = reterr };

        if (!library)
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "Archives can't be unpacked here: libarchive is not installed.");
        if (!archive)
                return refuse(&unpack, "it", "is no tar archive");
        for (;;) {
                struct archive_entry *entry = NULL;
                int r = library->archive_read_next_header(archive, &entry);

                if (r == ARCHIVE_EOF)
                        return 0;
                if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
                        return refuse(&unpack, "it", unpack.n_entries > 0 ? "is damaged" : "is no tar archive");
                r = unpack_entry(&unpack, entry);
                if (r < 0)
                        return r;
        }
}
