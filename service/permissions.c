/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/root-owner.h"
#include "common/safe-file.h"
#include "service/permissions.h"
#include "service/policy-file.h"
#include "service/service-paths.h"

#define PERMISSIONS_NAME "permissions.toml"

typedef enum FileState {
        FILE_ABSENT,
        FILE_READ,
        FILE_BROKEN,
        _FILE_STATE_MAX,
        _FILE_STATE_INVALID = -EINVAL,
} FileState;

static const char *const file_state_table[_FILE_STATE_MAX] = {
        [FILE_ABSENT] = "absent",
        [FILE_READ] = "read",
        [FILE_BROKEN] = "broken",
};

/* One file as it was found at the last load. */
typedef struct Found {
        RuleSource source;
        FileState state;
        PolicyFile *file;
} Found;

struct Permissions {
        CodewhaleHome *home;
        char *more;
        GPtrArray *found; /* Found, in the order in which they are read */
        PolicySet *set;   /* in force */
        bool read_once;   /* @set is what files said, and not just nothing */
        char *error, *unreadable;
};

static void found_free(void *pointer) {
        Found *found = pointer;

        policy_file_free(found->file);
        g_free(found);
}

Permissions *permissions_new(CodewhaleHome *home, const char *more) {
        Permissions *permissions = g_new0(Permissions, 1);

        permissions->home = codewhale_home_ref(home);
        permissions->more = g_strdup(more);
        permissions->found = g_ptr_array_new_with_free_func(found_free);
        permissions->set = policy_set_new();
        return permissions;
}

Permissions *permissions_free(Permissions *permissions) {
        if (!permissions)
                return NULL;

        codewhale_home_unref(permissions->home);
        g_ptr_array_unref(permissions->found);
        policy_set_free(permissions->set);
        g_free(permissions->more);
        g_free(permissions->error);
        g_free(permissions->unreadable);
        g_free(permissions);
        return NULL;
}

/* ---- reading ---- */

/* The text of a file in @directory, which may have failed to open. */
static int read_text(int directory, const char *name, struct stat *ret_status, char **ret_text, size_t *ret_size) {
        _cleanup_close_ int fd = -EBADF;

        if (directory < 0)
                return directory;
        fd = safe_open_at(directory, name, O_RDONLY | O_NONBLOCK, 0);
        if (fd < 0)
                return fd;
        if (fstat(fd, ret_status) < 0)
                return -errno;
        return safe_read_fd(fd, PERMISSIONS_FILE_BYTES_MAX, ret_text, ret_size);
}

static const char *words_of_error(int error) {
        switch (error) {
        case -ELOOP:
                return "it is a link, and links are not followed here";
        case -EBADFD:
                return "it is no regular file";
        case -EFBIG:
                return "it is too large";
        default:
                return g_strerror(-error);
        }
}

/* What binds the user must not be the user's to change. */
static bool is_of_root(const struct stat *status) {
        return root_owns(status) && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static Found *found_new(Permissions *permissions, RuleSource source, const char *path) {
        Found *found = g_new0(Found, 1);

        *found = (Found) { .source = source, .state = FILE_BROKEN, .file = policy_file_new(path) };
        g_ptr_array_add(permissions->found, found);
        return found;
}

/* Reads one file into @set; what is wrong stays with the file. */
static void load_text(Found *found, PolicySet *set, const char *text, size_t size) {
        if (policy_file_parse(found->file, text, size) >= 0 &&
                        policy_set_load(set, found->source, policy_file_root(found->file), &found->file->document) >= 0)
                found->state = FILE_READ;
        policy_file_forget(found->file);
}

static void load_file(Permissions *permissions, PolicySet *set, RuleSource source, const char *path, bool of_root) {
        g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path), *text = NULL, *words = NULL;
        _cleanup_close_ int directory = source == RULE_USER ? codewhale_home_open(permissions->home, HOME_ROOT)
                                                            : safe_open_directory(folder);
        Found *found = found_new(permissions, source, path);
        struct stat status = {};
        size_t size = 0;
        int r = read_text(directory, name, &status, &text, &size);

        if (r == -ENOENT)
                found->state = FILE_ABSENT;
        else if (r < 0) {
                words = g_strdup_printf("it can't be read: %s.", words_of_error(r));
                (void) policy_document_add(&found->file->document, 0, 0, words);
        } else if (of_root && !is_of_root(&status))
                (void) policy_document_add(&found->file->document, 0, 0,
                                           "it must belong to root, and nobody else may be able to write it.");
        else
                load_text(found, set, text, size);
}

static const Found *first_broken(const Permissions *permissions) {
        for (size_t i = 0; i < permissions->found->len; i++) {
                const Found *found = g_ptr_array_index(permissions->found, i);

                if (found->state == FILE_BROKEN)
                        return found;
        }
        return NULL;
}

static int refuse(Permissions *permissions, const Found *broken, sd_bus_error *reterr) {
        permissions->error = policy_document_words(&broken->file->document);
        if (!permissions->read_once)
                permissions->unreadable = g_strdup_printf("nothing runs while the permission rules can't be read: %s",
                                                          permissions->error);
        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s", permissions->error);
}

int permissions_load(Permissions *permissions, sd_bus_error *reterr) {
        g_autofree char *user = g_build_filename(codewhale_home_get_path(permissions->home, HOME_ROOT), PERMISSIONS_NAME, NULL);
        g_autoptr(PolicySet) set = policy_set_new();
        const Found *broken;

        g_ptr_array_set_size(permissions->found, 0);
        g_clear_pointer(&permissions->error, g_free);
        g_clear_pointer(&permissions->unreadable, g_free);
        load_file(permissions, set, RULE_ADMIN, ADMINISTRATOR_PERMISSIONS_PATH, true);
        if (permissions->more)
                load_file(permissions, set, RULE_ADMIN, permissions->more, false);
        load_file(permissions, set, RULE_USER, user, false);

        broken = first_broken(permissions);
        if (broken)
                return refuse(permissions, broken, reterr);

        policy_set_free(permissions->set);
        permissions->set = g_steal_pointer(&set);
        permissions->read_once = true;
        return 0;
}

/* ---- showing ---- */

const PolicySet *permissions_get(const Permissions *permissions) {
        return permissions->set;
}

const char *permissions_get_error(const Permissions *permissions) {
        return permissions->error;
}

const char *permissions_get_unreadable(const Permissions *permissions) {
        return permissions->unreadable;
}

unsigned permissions_count_warnings(const Permissions *permissions) {
        unsigned n = 0;

        for (size_t i = 0; i < permissions->found->len; i++) {
                const Found *found = g_ptr_array_index(permissions->found, i);
                const GPtrArray *mistakes = found->file->document.mistakes;

                for (size_t k = 0; mistakes && k < mistakes->len; k++)
                        n += ((const PolicyMistake *) g_ptr_array_index(mistakes, k))->warning;
        }
        return n;
}

static void write_files(const Permissions *permissions, JWriter *writer) {
        jwriter_key(writer, "files");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < permissions->found->len; i++) {
                const Found *found = g_ptr_array_index(permissions->found, i);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "path", found->file->path);
                jwriter_member_string(writer, "source", rule_source_to_string(found->source));
                jwriter_member_string(writer, "state", file_state_table[found->state]);
                jwriter_key(writer, "mistakes");
                policy_file_write_mistakes(found->file, writer);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void permissions_write(const Permissions *permissions, JWriter *writer) {
        write_files(permissions, writer);
        jwriter_member_string(writer, "in_force",
                              !permissions->error ? "files" : permissions->read_once ? "last-good" : "nothing");
        if (permissions->error)
                jwriter_member_string(writer, "error", permissions->error);
        policy_set_write(permissions->set, writer);
}
