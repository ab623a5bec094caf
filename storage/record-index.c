/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "storage/record-index.h"

/* Further records are counted, so that a stuffed folder can't hold up the loop. */
#define RECORDS_READ_MAX (2u * STORAGE_OWNER_KEYS_MAX)

static void entry_free(void *data) {
        RecordEntry *entry = data;

        g_free(entry->key);
        g_free(entry);
}

void record_index_init(RecordIndex *index, int folder) {
        *index = (RecordIndex){
                .folder = folder,
                .entries = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, entry_free),
        };
}

void record_index_done(RecordIndex *index) {
        g_clear_pointer(&index->entries, g_hash_table_unref);
}

size_t record_index_keys(const RecordIndex *index) {
        return g_hash_table_size(index->entries) + index->unread;
}

/* ---- files ---- */

static bool is_damage(int r) {
        /* A link, no regular file, larger than any record of ours. */
        return r == -ELOOP || r == -EBADFD || r == -EFBIG || r == -EISDIR || r == -ENXIO || r == -EBADMSG;
}

int record_read(int folder, const char *name, char **ret_key, char **ret_value, size_t *ret_value_size) {
        _cleanup_close_ int fd = safe_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0);
        g_autofree char *data = NULL;
        struct stat status;
        size_t size;
        int r;

        if (fd < 0)
                return is_damage(fd) ? -EBADMSG : fd;
        if (fstat(fd, &status) < 0)
                return -errno;
        /* None at all: somebody replaced it since we opened it, and what we hold is the whole record of a moment ago. */
        if (status.st_nlink > 1)
                return -EBADMSG;

        r = safe_read_fd(fd, RECORD_FILE_BYTES_MAX, &data, &size);
        if (r < 0)
                return is_damage(r) ? -EBADMSG : r;
        return record_decode(name, data, size, ret_key, ret_value, ret_value_size);
}

static FileStamp stamp_of(const struct stat *status) {
        return (FileStamp){ .inode = status->st_ino, .size = status->st_size, .modified = status->st_mtim };
}

static bool stamp_equal(const FileStamp *a, const FileStamp *b) {
        return a->inode == b->inode && a->size == b->size && a->modified.tv_sec == b->modified.tv_sec &&
               a->modified.tv_nsec == b->modified.tv_nsec;
}

/* ---- entries ---- */

static void drop(RecordIndex *index, const char *name) {
        RecordEntry *entry = g_hash_table_lookup(index->entries, name);

        if (!entry)
                return;
        index->value_bytes -= entry->value_bytes;
        g_hash_table_remove(index->entries, name);
}

/* Takes @key. */
static RecordEntry *insert(RecordIndex *index, const char *name, char *key, size_t value_bytes,
                const struct stat *status) {
        RecordEntry *entry = g_new0(RecordEntry, 1);

        drop(index, name);
        memcpy(entry->name, name, sizeof entry->name);
        entry->key = key;
        entry->value_bytes = value_bytes;
        entry->stamp = stamp_of(status);
        index->value_bytes += value_bytes;
        g_hash_table_insert(index->entries, entry->name, entry);
        return entry;
}

static int learn(RecordIndex *index, const char *name, const struct stat *status, RecordEntry **ret) {
        size_t value_bytes = 0;
        char *key = NULL;
        int r;

        r = record_read(index->folder, name, &key, NULL, &value_bytes);
        if (r < 0 && r != -EBADMSG)
                return r;

        *ret = insert(index, name, key, value_bytes, status);
        (*ret)->corrupt = r < 0;
        return 1;
}

void record_index_wrote(RecordIndex *index, const char *name, const char *key, size_t value_bytes,
                size_t file_bytes) {
        RecordEntry *entry;
        struct stat status;

        /* Of another size it is somebody else's by now. */
        if (fstatat(index->folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
                        (size_t) status.st_size != file_bytes)
                (void) record_index_update(index, name, &entry);
        else
                (void) insert(index, name, g_strdup(key), value_bytes, &status);
}

int record_index_update(RecordIndex *index, const char *name, RecordEntry **ret) {
        RecordEntry *entry = g_hash_table_lookup(index->entries, name);
        struct stat status;
        FileStamp stamp;

        if (fstatat(index->folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0) {
                if (errno != ENOENT)
                        return -errno;
                drop(index, name);
                return 0;
        }

        stamp = stamp_of(&status);
        if (entry && stamp_equal(&entry->stamp, &stamp)) {
                *ret = entry;
                return 1;
        }
        return learn(index, name, &status, ret);
}

/* ---- the folder ---- */

static int read_modified(int folder, struct timespec *ret) {
        struct stat status;

        if (fstat(folder, &status) < 0)
                return -errno;
        *ret = status.st_mtim;
        return 0;
}

void record_index_touch(RecordIndex *index) {
        (void) read_modified(index->folder, &index->folder_modified);
}

static gboolean is_gone(void *name, void *entry, void *seen) {
        RecordIndex *index = ((void **) seen)[0];
        GHashTable *names = ((void **) seen)[1];

        if (g_hash_table_contains(names, name))
                return FALSE;
        index->value_bytes -= ((RecordEntry *) entry)->value_bytes;
        return TRUE;
}

static int scan(RecordIndex *index) {
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        void *seen[] = { index, names };
        struct dirent *item;
        RecordEntry *entry;
        int fd, r = 0;
        DIR *stream;

        fd = safe_open_at(index->folder, ".", O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
                return fd;
        stream = fdopendir(fd);
        if (!stream) {
                close_fd(&fd);
                return -ENOMEM;
        }

        index->unread = 0;
        while (r >= 0 && (item = readdir(stream))) {
                if (record_name_check(item->d_name) < 0)
                        continue;
                if (g_hash_table_size(names) >= RECORDS_READ_MAX) {
                        index->unread++;
                        continue;
                }
                r = record_index_update(index, item->d_name, &entry);
                if (r > 0)
                        g_hash_table_add(names, g_strdup(item->d_name));
        }
        (void) closedir(stream);
        if (r < 0)
                return r;

        (void) g_hash_table_foreach_remove(index->entries, is_gone, seen);
        return 0;
}

int record_index_refresh(RecordIndex *index) {
        struct timespec modified;
        int r;

        r = read_modified(index->folder, &modified);
        if (r < 0)
                return r;
        if (modified.tv_sec == index->folder_modified.tv_sec &&
                        modified.tv_nsec == index->folder_modified.tv_nsec)
                return 0;

        r = scan(index);
        if (r < 0)
                return r;
        /* The stamp from before the scan: what changes meanwhile is looked at next time. */
        index->folder_modified = modified;
        return 0;
}
