/* SPDX-License-Identifier: MIT */
#pragma once

/* The workspace as a core tool reaches into it: by one descriptor, beneath it, and through no link at all. A path that
 * was judged by its text is then the path that is opened; who means the target of a link has to name the target. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "sandbox/core-tool/answer.h"

typedef struct Workspace {
        int fd;
        char *path;
} Workspace;

/**
 * workspace_open() - open it and see that it is the folder that was meant
 * @device, @inode: of that folder; 0 and 0: any
 *
 * Return: 0; -ESTALE when the path leads to another folder by now; another -errno.
 */
int workspace_open(Workspace *workspace, const char *path, uint64_t device, uint64_t inode);

/**
 * workspace_relative() - a path, relative or absolute, as it lies in the workspace; "." and ".." by text
 *
 * Return: a new string, "." for the workspace itself; NULL when it is outside, which the answer then says.
 */
char *workspace_relative(const Workspace *workspace, const char *path, Answer *answer);

/** workspace_open_file() - a regular file for reading; a descriptor, or -errno with the answer saying why */
int workspace_open_file(const Workspace *workspace, const char *relative, struct stat *ret_st, Answer *answer);

/** workspace_open_directory() - the same for a directory */
int workspace_open_directory(const Workspace *workspace, const char *relative, Answer *answer);

/**
 * workspace_read() - the whole of a file
 * @bytes_max: more is -EFBIG
 */
int workspace_read(const Workspace *workspace, const char *relative, size_t bytes_max, char **ret_data, size_t *ret_size,
                struct stat *ret_st, Answer *answer);

/**
 * workspace_replace() - make or replace a file by a temporary one beside it, whole or not at all
 * @before: NULL: there must be none; else what was there: another file by now is -EBUSY
 */
int workspace_replace(const Workspace *workspace, const char *relative, const void *data, size_t size,
                const struct stat *before, Answer *answer);

/**
 * workspace_walk() - every file below a directory, in the order of names
 * @each: gets the path relative to the workspace and its directory's descriptor with its name; false ends the walk
 *
 * Links are not followed and ".git" is not entered. At most CORE_WALK_FILES_MAX files.
 * Return: 0; 1 when there were more; -errno with the answer saying why.
 */
typedef bool (*WorkspaceEach)(const char *relative, int directory, const char *name, void *userdata);
int workspace_walk(
                const Workspace *workspace, const char *relative, WorkspaceEach each, void *userdata, Answer *answer);
