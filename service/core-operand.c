/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "policy/command-path.h"
#include "policy/operand.h"
#include "policy/tool-name.h"
#include "service/core-operand.h"

/* ---- by text ---- */

static GPtrArray *relative_ones(const char *workspace, const GPtrArray *paths) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < paths->len; i++) {
                g_autofree char *relative = operand_relative(workspace, paths->pdata[i]);

                if (relative && strcmp(relative, ".") != 0 &&
                                !g_ptr_array_find_with_equal_func(names, relative, g_str_equal, NULL))
                        g_ptr_array_add(names, g_steal_pointer(&relative));
        }
        return names;
}

static Command *command_of(const char *policy_name, Jval input) {
        const char *text = jval_text(jval_member(input, "command"));

        return text && tool_category(policy_name) == CATEGORY_SHELL ? command_parse(text) : NULL;
}

GPtrArray *core_operand_names(const char *policy_name, const char *workspace, Jval input, bool *ret_all) {
        g_autoptr(Command) command = command_of(policy_name, input);
        g_autoptr(GPtrArray) paths = NULL;

        if (command)
                return command_paths(command, workspace, jval_text(jval_member(input, "cwd")), ret_all);
        paths = operand_paths(policy_name, input, ret_all);
        return relative_ones(workspace, paths);
}

bool core_operand_is_computed(const char *policy_name, Jval input) {
        g_autoptr(Command) command = command_of(policy_name, input);

        return command && command_is_computed(command);
}

/* ---- by bytes ---- */

struct CoreOperandReader {
        char *workspace;
        const GPtrArray *names;
        bool shell;
        Worker *worker;
        CoreOperandsDone done;
        void *userdata;
};

/* The digest of a regular file; NULL when there is none of that name. */
static int digest_of(int workspace, const char *name, size_t *left, char **ret) {
        _cleanup_close_ int fd = safe_open_at(workspace, name, O_RDONLY | O_NONBLOCK, 0);
        g_autofree char *data = NULL;
        struct stat st;
        size_t size;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        r = safe_read_fd(fd, *left, &data, &size);
        if (r < 0)
                return r;
        *left -= size;
        *ret = sha256_hex(data, size);
        return 0;
}

/* In the worker. */
static int read_operands(void *data, GString *ret_text, sd_bus_error *reterr) {
        CoreOperandReader *reader = data;
        _cleanup_close_ int workspace = open(reader->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        size_t left = CORE_OPERAND_BYTES_MAX, n = 0;
        g_auto(JWriter) writer = {};
        g_autofree char *text = NULL;

        if (workspace < 0)
                return errors_set(reterr, ERROR_IO, "The workspace can't be opened: %s.", g_strerror(errno));
        jwriter_init(&writer);
        jwriter_begin_array(&writer);
        for (guint i = 0; i < reader->names->len; i++) {
                const char *name = g_ptr_array_index(reader->names, i);
                g_autofree char *digest = NULL;
                int r = digest_of(workspace, name, &left, &digest);

                if (r < 0)
                        return errors_set(reterr, r == -EFBIG ? ERROR_TOO_LARGE : ERROR_IO,
                                          r == -EFBIG ? "The files that the call names are too large to be bound to an approval (%s)."
                                                      : "%s can't be read.", name);
                if (!digest && reader->shell)
                        continue;
                if (++n > OPERANDS_MAX)
                        return errors_set(reterr, ERROR_TOO_LARGE, CORE_OPERANDS_TOO_MANY);
                jwriter_begin_object(&writer);
                jwriter_member_string(&writer, "path", name);
                jwriter_member_string(&writer, "sha256", digest ?: "");
                jwriter_end_object(&writer);
        }
        jwriter_end_array(&writer);
        text = jwriter_steal(&writer, NULL);
        g_string_assign(ret_text, text);
        return 0;
}

static GPtrArray *parse_operands(const char *text, size_t size) {
        g_autoptr(Jdoc) doc = NULL;
        GPtrArray *operands = NULL;
        Jval key, item;
        JIter iter;

        if (jdoc_parse(text, size, NULL, &doc, NULL) < 0)
                return NULL;
        operands = g_ptr_array_new_with_free_func(core_operand_free);
        iter = jval_iterate(jdoc_root(doc));
        while (jiter_next(&iter, &key, &item)) {
                CoreOperand *operand = g_new0(CoreOperand, 1);

                operand->path = g_strdup(jval_text(jval_member(item, "path")));
                operand->sha256 = g_strdup(jval_text(jval_member(item, "sha256")));
                g_ptr_array_add(operands, operand);
        }
        return operands;
}

static void on_read(int r, const char *text, size_t size, const sd_bus_error *error, void *userdata) {
        CoreOperandReader *reader = userdata;
        GPtrArray *operands = r < 0 ? NULL : parse_operands(text, size);

        if (r >= 0 && !operands)
                r = -EBADMSG;
        reader->done(r, operands, error && error->message ? error->message : "The files that the call names can't be read.",
                     reader->userdata);
}

int core_operand_read(
                sd_event *event, const char *workspace, const GPtrArray *names, bool shell, CoreOperandsDone done, void *userdata,
                CoreOperandReader **ret) {
        g_autoptr(CoreOperandReader) reader = g_new0(CoreOperandReader, 1);
        int r;

        reader->workspace = g_strdup(workspace);
        reader->names = names;
        reader->shell = shell;
        reader->done = done;
        reader->userdata = userdata;
        r = worker_start(event, read_operands, reader, on_read, reader, &reader->worker);
        if (r < 0)
                return r;
        reader->names = NULL;
        *ret = g_steal_pointer(&reader);
        return 0;
}

CoreOperandReader *core_operand_reader_free(CoreOperandReader *reader) {
        if (!reader)
                return NULL;

        worker_free(reader->worker);
        g_free(reader->workspace);
        g_free(reader);
        return NULL;
}
