/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/toml-reader.h"
#include "common/toml.h"
#include "common/whole-io.h"

/* What the child writes first; the places and the JSON text follow. */
typedef struct Answer {
        int r;
        TomlError error;
        size_t n_places;
} Answer;

struct TomlLines {
        size_t n_places;
        TomlPlace places[];
};

static void write_or_exit(int fd, const void *data, size_t size) {
        if (whole_write(fd, data, size) < 0)
                _exit(EXIT_FAILURE);
}

_Noreturn static void be_child(int fd, const char *text, size_t size) {
        TomlPlace *places = NULL;
        char *json = NULL;
        Answer answer;

        /* All of it goes through the pipe, padding as well. */
        memset(&answer, 0, sizeof answer);
        answer.r = toml_read(text, size, &json, &places, &answer.n_places, &answer.error);
        write_or_exit(fd, &answer, sizeof answer);
        if (answer.r >= 0) {
                write_or_exit(fd, places, answer.n_places * sizeof *places);
                write_or_exit(fd, json, strlen(json));
        }
        _exit(EXIT_SUCCESS);
}

static GByteArray *read_all(int fd) {
        g_autoptr(GByteArray) all = g_byte_array_new();
        uint8_t buffer[4096];
        ssize_t n;

        do {
                n = read(fd, buffer, sizeof buffer);
                if (n > 0)
                        g_byte_array_append(all, buffer, (guint) n);
        } while (n > 0 || (n < 0 && errno == EINTR));
        return g_steal_pointer(&all);
}

static void collect(pid_t pid) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
}

static int fail(TomlError *reterr, int r, const char *description) {
        *reterr = (TomlError){ .line = 1, .column = 1 };
        (void) g_strlcpy(reterr->description, description, sizeof reterr->description);
        return r;
}

TomlLines *toml_lines_new(const void *places, size_t n_places) {
        TomlLines *lines = g_malloc(sizeof *lines + n_places * sizeof *lines->places);

        lines->n_places = n_places;
        if (n_places > 0)
                memcpy(lines->places, places, n_places * sizeof *lines->places);
        return lines;
}

/* The child runs a library over a stranger's text: what it says of its own sizes is checked. */
static int take_answer(GByteArray *all, char **ret_json, TomlLines **ret_lines, TomlError *reterr) {
        const uint8_t *rest;
        size_t size_places, size;
        Answer answer;

        /* The library broke over it. */
        if (all->len < sizeof answer)
                return fail(reterr, -EBADMSG, "this is not TOML");
        memcpy(&answer, all->data, sizeof answer);
        rest = all->data + sizeof answer;
        if (answer.r < 0) {
                *reterr = answer.error;
                return answer.r;
        }
        size = all->len - sizeof answer;
        if (answer.n_places > size / sizeof(TomlPlace))
                return fail(reterr, -EBADMSG, "this is not TOML");
        size_places = answer.n_places * sizeof(TomlPlace);
        *ret_json = g_strndup((const char *) rest + size_places, size - size_places);
        if (ret_lines)
                *ret_lines = toml_lines_new(rest, answer.n_places);
        return 0;
}

int toml_to_json_lines(
                const char *text, size_t size, char **ret_json, TomlLines **ret_lines, TomlError *reterr) {
        _cleanup_close_ int ours = -EBADF, theirs = -EBADF;
        g_autoptr(GByteArray) all = NULL;
        int ends[2];
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return fail(reterr, -errno, "there is no pipe to read it by");
        ours = ends[0];
        theirs = ends[1];
        pid = fork();
        if (pid < 0)
                return fail(reterr, -errno, "there is no process to read it in");
        if (pid == 0)
                be_child(theirs, text, size);

        close_fd(&theirs);
        all = read_all(ours);
        collect(pid);
        return take_answer(all, ret_json, ret_lines, reterr);
}

int toml_to_json(const char *text, size_t size, char **ret_json, TomlError *reterr) {
        return toml_to_json_lines(text, size, ret_json, NULL, reterr);
}

/* The last place that does not begin behind the offset */
size_t toml_lines_find(const TomlLines *lines, size_t offset, size_t *ret_column) {
        size_t low = 0, high = lines ? lines->n_places : 0;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (lines->places[middle].offset <= offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (ret_column)
                *ret_column = low > 0 ? lines->places[low - 1].column : 0;
        return low > 0 ? lines->places[low - 1].line : 0;
}

TomlLines *toml_lines_free(TomlLines *lines) {
        g_free(lines);
        return NULL;
}
