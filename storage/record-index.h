/* SPDX-License-Identifier: MIT */
#pragma once

/* What the folder of records holds, kept in memory so that a quota can be reserved without looking at the
 * disk. Rebuilt when the folder's own time stamp shows that somebody else was there. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "storage/record-file.h"

/* What tells that a file is still the one that was looked at. */
typedef struct FileStamp {
        ino_t inode;
        off_t size;
        struct timespec modified;
} FileStamp;

typedef struct RecordEntry {
        char name[RECORD_NAME_CHARS + 1];
        char *key; /* NULL when damaged */
        size_t value_bytes;
        bool corrupt;
        FileStamp stamp;
} RecordEntry;

typedef struct RecordIndex {
        int folder;          /* descriptor, borrowed */
        GHashTable *entries; /* RecordEntry by name */
        size_t value_bytes;
        size_t unread; /* records beyond what is looked into; they count as keys */
        struct timespec folder_modified;
} RecordIndex;

/** record_index_init() - empty, for an open folder */
void record_index_init(RecordIndex *index, int folder);
void record_index_done(RecordIndex *index);

/** record_index_refresh() - look at the folder again if it changed since; 0 or -errno */
int record_index_refresh(RecordIndex *index);

/** record_index_touch() - the folder was changed by us: take its time stamp as seen */
void record_index_touch(RecordIndex *index);

/**
 * record_index_update() - look at one file, reading it only when it is not the one that is known
 *
 * Return: 1 and the entry; 0 when there is no such file (an old entry is dropped); -errno.
 */
int record_index_update(RecordIndex *index, const char *name, RecordEntry **ret);

/** record_index_wrote() - we just wrote this file: take it in without reading it again */
void record_index_wrote(RecordIndex *index, const char *name, const char *key, size_t value_bytes,
                size_t file_bytes);

size_t record_index_keys(const RecordIndex *index);

/**
 * record_read() - read and check one record's file
 *
 * Links, hard-linked files and everything that record_decode() refuses are damaged. Return: 0; -ENOENT;
 * -EBADMSG; another -errno.
 */
int record_read(int folder, const char *name, char **ret_key, char **ret_value, size_t *ret_value_size);
