/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "storage/trust-format.h"
#include "storage/trust-state.h"

/* Which file was read: replaced files have another inode or time. */
typedef struct FilePrint {
        bool exists;
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec modified, changed;
} FilePrint;

/* Which folder was checked, and what was checked of it. What lies in it may change without being news. */
typedef struct FolderPrint {
        bool checked;
        dev_t device;
        ino_t inode;
        mode_t mode;
        uid_t uid;
} FolderPrint;

struct TrustState {
        char *directory, *path;
        FolderPrint folder;  /* of where @records came from */
        GHashTable *records; /* NULL: never read, or not to be trusted */
        FilePrint print;     /* of what @records came from */
        bool news;           /* a change of ours found records of somebody else that no refresh has told of yet */
};

TrustState *trust_state_new(const char *directory) {
        TrustState *state = g_new0(TrustState, 1);

        assert(directory && *directory == '/');

        state->directory = g_strdup(directory);
        state->path = g_build_filename(directory, TRUST_STATE_FILE, NULL);
        return state;
}

TrustState *trust_state_free(TrustState *state) {
        if (!state)
                return NULL;

        g_free(state->directory);
        g_free(state->path);
        g_clear_pointer(&state->records, g_hash_table_unref);
        g_free(state);
        return NULL;
}

static int set_invalid(TrustState *state, sd_bus_error *reterr, const char *why) {
        state->folder = (FolderPrint) {};
        g_clear_pointer(&state->records, g_hash_table_unref);
        return errors_set(reterr, ERROR_STATE_INVALID,
                        "%s/" TRUST_STATE_FILE " can't be trusted, so nothing is enabled: %s. It is left as it is; "
                        "repair it or move it away, then reload.",
                        state->directory, why);
}

/* The folder is ours and closed to others; NULL or what is wrong with it. */
static const char *check_directory(TrustState *state, int fd) {
        struct stat status;

        state->folder = (FolderPrint) {};
        if (fstat(fd, &status) < 0)
                return "its folder can't be examined";
        if (status.st_uid != geteuid())
                return "its folder belongs to somebody else";
        if ((status.st_mode & 077) != 0)
                return "its folder is open to others (it must have mode 0700)";
        state->folder = (FolderPrint) {
                .checked = true, .device = status.st_dev, .inode = status.st_ino, .mode = status.st_mode, .uid = status.st_uid,
        };
        return NULL;
}

static const char *check_file(const struct stat *status) {
        if (!S_ISREG(status->st_mode))
                return "it is no regular file";
        if (status->st_uid != geteuid())
                return "it belongs to somebody else";
        if ((status->st_mode & 07777) != 0600)
                return "its mode is not 0600";
        /* None at all: another process replaced it since we opened it, and what we hold is the state of a moment ago. */
        if (status->st_nlink > 1)
                return "it has a second link";
        return NULL;
}

static bool print_equal(const FilePrint *a, const FilePrint *b) {
        return a->exists == b->exists && a->device == b->device && a->inode == b->inode && a->size == b->size &&
                        a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec &&
                        a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static FilePrint print_of(const struct stat *status) {
        return (FilePrint) {
                .exists = true,
                .device = status->st_dev,
                .inode = status->st_ino,
                .size = status->st_size,
                .modified = status->st_mtim,
                .changed = status->st_ctim,
        };
}

static int take_records(TrustState *state, GHashTable *records, const FilePrint *print) {
        g_clear_pointer(&state->records, g_hash_table_unref);
        state->records = records;
        state->print = *print;
        return 1;
}

static int read_file(TrustState *state, int fd, const FilePrint *print, sd_bus_error *reterr) {
        g_autofree char *text = NULL, *reason = NULL;
        GHashTable *records = NULL;
        size_t size = 0;
        int r;

        r = safe_read_fd(fd, STATE_FILE_BYTES_MAX, &text, &size);
        if (r == -EFBIG)
                return set_invalid(state, reterr, "it is too large");
        if (r == -EAGAIN)
                return set_invalid(state, reterr, "it is being written to");
        if (r < 0)
                return set_invalid(state, reterr, "it can't be read");
        if (trust_format_read(text, size, &records, &reason) < 0)
                return set_invalid(state, reterr, reason);

        return take_records(state, records, print);
}

static int read_below(TrustState *state, int directory, bool force, sd_bus_error *reterr) {
        _cleanup_close_ int fd = -EBADF;
        FilePrint print = {};
        struct stat status;
        const char *problem;

        fd = safe_open_at(directory, TRUST_STATE_FILE, O_RDONLY | O_NONBLOCK, 0);
        if (fd == -ENOENT)
                return !force && state->records && print_equal(&print, &state->print)
                                ? 0
                                : take_records(state, trust_format_new_records(), &print);
        if (fd == -ELOOP)
                return set_invalid(state, reterr, "it is a link");
        if (fd < 0 || fstat(fd, &status) < 0)
                return set_invalid(state, reterr, "it can't be opened");

        problem = check_file(&status);
        if (problem)
                return set_invalid(state, reterr, problem);

        print = print_of(&status);
        if (!force && state->records && print_equal(&print, &state->print))
                return 0;
        return read_file(state, fd, &print, reterr);
}

/* Whether folder and file are, by name, the very ones that were opened, checked and read, and untouched since: a change of mode,
 * owner or links shows in the time of change as well as one of the text. This is asked before every side effect, so it makes do
 * with two system calls where opening and checking takes eight. */
static bool is_as_checked(const TrustState *state) {
        struct stat folder, file;
        FilePrint print;

        if (!state->records || !state->folder.checked || !state->print.exists)
                return false;
        if (lstat(state->directory, &folder) < 0 || folder.st_dev != state->folder.device ||
                        folder.st_ino != state->folder.inode || folder.st_mode != state->folder.mode ||
                        folder.st_uid != state->folder.uid)
                return false;
        if (lstat(state->path, &file) < 0)
                return false;

        print = print_of(&file);
        return print_equal(&print, &state->print);
}

static int refresh(TrustState *state, sd_bus_error *reterr) {
        _cleanup_close_ int directory = -EBADF;
        const char *problem;

        if (is_as_checked(state))
                return 0;

        directory = safe_open_directory(state->directory);
        if (directory == -ENOENT) {
                FilePrint none = {};

                return state->records && print_equal(&none, &state->print)
                                ? 0
                                : take_records(state, trust_format_new_records(), &none);
        }
        if (directory == -ELOOP || directory == -ENOTDIR)
                return set_invalid(state, reterr, "its folder is a link or no folder");
        if (directory < 0)
                return set_invalid(state, reterr, "its folder can't be opened");

        problem = check_directory(state, directory);
        if (problem)
                return set_invalid(state, reterr, problem);
        return read_below(state, directory, false, reterr);
}

int trust_state_refresh(TrustState *state, sd_bus_error *reterr) {
        bool news;
        int r;

        assert(state);

        news = state->news;
        state->news = false;
        r = refresh(state, reterr);
        return r == 0 && news ? 1 : r;
}

const TrustRecord *trust_state_get(const TrustState *state, const char *plugin_id) {
        return state->records ? g_hash_table_lookup(state->records, plugin_id) : NULL;
}

void trust_state_foreach(
                const TrustState *state, void (*on_record)(const char *plugin_id, const TrustRecord *record, void *userdata),
                void *userdata) {
        GHashTableIter iter;
        void *id, *record;

        if (!state->records)
                return;
        g_hash_table_iter_init(&iter, state->records);
        while (g_hash_table_iter_next(&iter, &id, &record))
                on_record(id, record, userdata);
}

/* The lock lives as long as the descriptor. */
static int take_lock(int directory, sd_bus_error *reterr) {
        _cleanup_close_ int fd = safe_open_at(directory, TRUST_STATE_LOCK, O_RDWR | O_CREAT | O_NONBLOCK, 0600);
        struct stat status;

        if (fd < 0 || fstat(fd, &status) < 0)
                return errors_set(reterr, ERROR_IO, "The lock of the state file can't be opened: %s.",
                                g_strerror(fd < 0 ? -fd : errno));
        if (check_file(&status))
                return errors_set(reterr, ERROR_STATE_INVALID, "The lock of the state file can't be trusted: %s.",
                                check_file(&status));
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
                return errors_set(reterr, ERROR_BUSY, "Another process is changing the state file.");

        return steal_fd(&fd);
}

static int open_for_change(TrustState *state, sd_bus_error *reterr) {
        _cleanup_close_ int directory = -EBADF;
        const char *problem;

        if (g_mkdir_with_parents(state->directory, 0700) < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be made: %s.", state->directory, g_strerror(errno));
        directory = safe_open_directory(state->directory);
        if (directory < 0)
                return set_invalid(state, reterr, "its folder is a link or can't be opened");
        problem = check_directory(state, directory);
        if (problem)
                return set_invalid(state, reterr, problem);

        return steal_fd(&directory);
}

/* Puts the records on the disk and reads back which file that is. */
static int write_records(TrustState *state, int directory, sd_bus_error *reterr) {
        g_autofree char *text = NULL;
        struct stat status;
        size_t size;
        int r;

        text = trust_format_write(state->records, &size);
        if (size > STATE_FILE_BYTES_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "The state file would become too large.");

        r = safe_replace_at(directory, TRUST_STATE_FILE, text, size, 0600);
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "The state file can't be written: %s.", g_strerror(-r));

        /* We hold the lock: what is there now is what we wrote. Were it not, the next refresh reads it. */
        if (fstatat(directory, TRUST_STATE_FILE, &status, AT_SYMLINK_NOFOLLOW) == 0)
                state->print = print_of(&status);
        return 0;
}

/* With the folder and the lock in hand: @wanted NULL takes the record out. */
static int change(TrustState *state, int directory, const char *plugin_id, const TrustRecord *expected,
                const TrustRecord *wanted, sd_bus_error *reterr) {
        FilePrint before = state->print;
        const TrustRecord *current;
        TrustRecord *record;
        int r;

        state->news |= !state->records;
        r = read_below(state, directory, true, reterr);
        if (r < 0)
                return r;
        state->news |= !print_equal(&before, &state->print);
        current = trust_state_get(state, plugin_id);
        if (!trust_record_equal(current, expected))
                return -ESTALE;
        if (!wanted && !current)
                return 0;
        if (wanted && current && current->generation == UINT64_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "The plugin's generation can't grow any further.");

        if (wanted) {
                record = trust_record_copy(wanted);
                record->generation = current ? current->generation + 1 : 1;
                g_hash_table_insert(state->records, g_strdup(plugin_id), record);
        } else
                g_hash_table_remove(state->records, plugin_id);

        r = write_records(state, directory, reterr);
        if (r < 0) /* what is in the table did not get to the disk */
                (void) read_below(state, directory, true, NULL);
        return r;
}

static int change_locked(TrustState *state, const char *plugin_id, const TrustRecord *expected,
                const TrustRecord *wanted, sd_bus_error *reterr) {
        _cleanup_close_ int directory = -EBADF, lock = -EBADF;
        g_autoptr(TrustRecord) seen = NULL;

        /* The caller's may well be the one in our table, which is read anew below. */
        seen = expected ? trust_record_copy(expected) : NULL;

        directory = open_for_change(state, reterr);
        if (directory < 0)
                return directory;
        lock = take_lock(directory, reterr);
        if (lock < 0)
                return lock;

        return change(state, directory, plugin_id, seen, wanted, reterr);
}

int trust_state_update(
                TrustState *state, const char *plugin_id, const TrustRecord *expected, const TrustRecord *wanted,
                sd_bus_error *reterr) {
        assert(state && plugin_id && wanted);

        return change_locked(state, plugin_id, expected, wanted, reterr);
}

int trust_state_remove(TrustState *state, const char *plugin_id, const TrustRecord *expected, sd_bus_error *reterr) {
        assert(state && plugin_id);

        return change_locked(state, plugin_id, expected, NULL, reterr);
}
