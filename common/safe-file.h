/* SPDX-License-Identifier: MIT */
#pragma once

/* Files below a directory descriptor that somebody else may be changing: opened beneath it without following any link,
 * read up to a limit, replaced whole or not at all. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/**
 * safe_open_at() - open a path beneath a directory
 * @directory: descriptor of the directory; the path can't leave it
 * @path:      relative; no link is followed anywhere in it
 * @flags:     as for openat(); O_CLOEXEC, O_NOCTTY and O_NOFOLLOW are added
 * @mode:      of a file that is made
 *
 * Return: a descriptor; -ELOOP when a link is in the way; -EXDEV when the path is absolute or has ".." in it; another
 * -errno.
 */
int safe_open_at(int directory, const char *path, int flags, mode_t mode);

/** safe_open_directory() - open a directory by absolute path, following links in it but not at its end */
int safe_open_directory(const char *path);

/**
 * safe_make_directory_at() - make a directory (and missing parents) beneath @directory and open it
 *
 * New directories get @mode, whatever the umask. An existing one is opened as it is. Return: a descriptor or -errno.
 */
int safe_make_directory_at(int directory, const char *path, mode_t mode);

/**
 * safe_read_fd() - the whole content of an open regular file
 * @bytes_max: limit on its size
 *
 * Return: 0; -EFBIG over the limit; -EBADFD when it is no regular file; another -errno.
 */
int safe_read_fd(int fd, size_t bytes_max, char **ret_data, size_t *ret_size);

/** safe_read_at() - safe_open_at() and safe_read_fd(); the data ends in an extra NUL that is not counted */
int safe_read_at(int directory, const char *path, size_t bytes_max, char **ret_data, size_t *ret_size);

/**
 * safe_replace_at() - replace a file beneath @directory by new content, atomically and durably
 * @name: a name in @directory itself, no slash
 * @mode: of the new file, whatever the umask
 *
 * Temporary file, fsync, rename, fsync of the directory. After a crash the old or the new content is there, never a part.
 * Temporary names begin with ".pending-" and are safe to delete.
 *
 * Return: 0; -EINVAL for a name with a slash; another -errno. The old file stays on failure.
 */
int safe_replace_at(int directory, const char *name, const void *data, size_t size, mode_t mode);

/** safe_unlink_at() - remove a file in @directory and make that durable; -ENOENT when there is none */
int safe_unlink_at(int directory, const char *name);

/** safe_remove_tree_at() - remove a file or a whole directory beneath @directory; links are removed, never followed */
int safe_remove_tree_at(int directory, const char *name);

/** safe_sweep_pending() - remove temporary files that an interrupted safe_replace_at() left in @directory */
int safe_sweep_pending(int directory);
