/* SPDX-License-Identifier: MIT */
#pragma once

/* libarchive, loaded when an archive is there. It brings an XML reader and all of Unicode's tables along, so that linked with the
 * daemon it would take a sixth of its memory for good; now only the worker that unpacks ever has it. */

#include <archive.h>
#include <archive_entry.h>

/* The functions that are used, each by its own name */
#define ARCHIVE_LIBRARY_FUNCTIONS(X)        \
        X(archive_entry_filetype)           \
        X(archive_entry_hardlink)           \
        X(archive_entry_pathname_utf8)      \
        X(archive_entry_perm)               \
        X(archive_read_data)                \
        X(archive_read_free)                \
        X(archive_read_new)                 \
        X(archive_read_next_header)         \
        X(archive_read_open_fd)             \
        X(archive_read_support_filter_bzip2) \
        X(archive_read_support_filter_gzip) \
        X(archive_read_support_filter_xz)   \
        X(archive_read_support_filter_zstd) \
        X(archive_read_support_format_tar)

typedef struct ArchiveLibrary {
#define MEMBER(name) typeof(name) *name;
        ARCHIVE_LIBRARY_FUNCTIONS(MEMBER)
#undef MEMBER
} ArchiveLibrary;

/** archive_library_get() - Return: the functions, loaded for the rest of the process; NULL when the library is not there */
const ArchiveLibrary *archive_library_get(void);
