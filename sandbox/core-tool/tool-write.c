/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "sandbox/core-tool/tool.h"

#define NEW_FOLDER_MODE 0755

/* What is at a path now. Return: 1 with @ret_st; 0 when there is nothing; -errno with the answer saying why. */
static int look(const Workspace *workspace, const char *relative, struct stat *ret_st, Answer *answer) {
        _cleanup_close_ int fd = workspace_open_file(workspace, relative, ret_st, answer);

        if (fd == -ENOENT) {
                answer->is_error = false;
                (void) g_string_truncate(answer->head, 0);
                answer->said = 0;
                return 0;
        }
        return fd < 0 ? fd : 1;
}

static int make_folders(const Workspace *workspace, const char *relative, Answer *answer) {
        g_autofree char *folder = g_path_get_dirname(relative);
        _cleanup_close_ int fd = -EBADF;

        if (strcmp(folder, ".") == 0)
                return 0;
        fd = safe_make_directory_at(workspace->fd, folder, NEW_FOLDER_MODE);
        if (fd < 0)
                answer_fail(answer, "The folder %s can't be made: %s.", folder, g_strerror(-fd));
        return fd < 0 ? fd : 0;
}

static void tell(Answer *answer, const char *relative, const char *what, size_t size) {
        answer_printf(answer, "%s %s (%zu bytes).", what, relative, size);
        jwriter_member_string(answer_facts(answer), "path", relative);
        jwriter_member_uint(answer_facts(answer), "bytes", size);
}

void tool_write_file(const Workspace *workspace, Jval input, Answer *answer) {
        g_autofree char *relative = workspace_relative(workspace, jval_text(jval_member(input, "path")), answer);
        struct stat before;
        size_t size;
        const char *content = jval_string(jval_member(input, "content"), &size);
        int there;

        if (!relative || (tool_flag(input, "create_directories") && make_folders(workspace, relative, answer) < 0))
                return;
        there = look(workspace, relative, &before, answer);
        if (there < 0 || workspace_replace(workspace, relative, content, size, there > 0 ? &before : NULL, answer) < 0)
                return;
        tell(answer, relative, there > 0 ? "Replaced" : "Wrote", size);
}

/* ---- edit ---- */

static size_t count_of(const char *text, size_t size, const char *old, size_t old_size) {
        const char *at = text;
        size_t n = 0;

        while ((at = memmem(at, size - (size_t) (at - text), old, old_size))) {
                n++;
                at += old_size;
        }
        return n;
}

static GString *replaced(const char *text, size_t size, const char *old, size_t old_size, const char *new, size_t new_size) {
        GString *result = g_string_sized_new(size);
        const char *at = text, *end = text + size, *found;

        while ((found = memmem(at, (size_t) (end - at), old, old_size))) {
                (void) g_string_append_len(result, at, (gssize) (found - at));
                (void) g_string_append_len(result, new, (gssize) new_size);
                at = found + old_size;
        }
        (void) g_string_append_len(result, at, (gssize) (end - at));
        return result;
}

void tool_edit_file(const Workspace *workspace, Jval input, Answer *answer) {
        g_autofree char *relative = workspace_relative(workspace, jval_text(jval_member(input, "path")), answer);
        size_t size, old_size, new_size, n;
        const char *old = jval_string(jval_member(input, "old_string"), &old_size);
        const char *new = jval_string(jval_member(input, "new_string"), &new_size);
        g_autofree char *data = NULL;
        struct stat before;
        GString *result;

        if (!relative || workspace_read(workspace, relative, CORE_WRITE_BYTES_MAX, &data, &size, &before, answer) < 0)
                return;
        n = count_of(data, size, old, old_size);
        if (n == 0 || (n > 1 && !tool_flag(input, "replace_all"))) {
                answer_fail(answer, n == 0 ? "The text to replace is not in %s." : "The text to replace is in %s more than once.",
                                relative);
                return;
        }
        if (new_size > old_size && size + n * (new_size - old_size) > CORE_WRITE_BYTES_MAX) {
                answer_fail(answer, "%s would become larger than %zu bytes.", relative, CORE_WRITE_BYTES_MAX);
                return;
        }

        result = replaced(data, size, old, old_size, new, new_size);
        if (workspace_replace(workspace, relative, result->str, result->len, &before, answer) >= 0) {
                tell(answer, relative, "Edited", result->len);
                jwriter_member_uint(answer_facts(answer), "replacements", n);
        }
        (void) g_string_free(result, TRUE);
}
