/* SPDX-License-Identifier: MIT */
#include "cli/scaffold.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"

#define NAME_CHARS_MAX     64u
#define PREFIX             "hello"
#define REGISTERED_MAX     64u /* characters of the name of a tool or command */
#define NAME_IN_REGISTERED (REGISTERED_MAX - sizeof(PREFIX))

static bool is_reserved(const char *name) {
        static const char *const devices[] = { "con", "prn", "aux", "nul" };
        size_t size = strcspn(name, ".");

        for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
                if (size == 3 && strncmp(name, devices[i], 3) == 0)
                        return true;
        return size == 4 && (strncmp(name, "com", 3) == 0 || strncmp(name, "lpt", 3) == 0) &&
               g_ascii_isdigit(name[3]);
}

const char *scaffold_check_name(const char *name) {
        size_t size = strlen(name);

        if (size < 1 || size > NAME_CHARS_MAX ||
                        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != size ||
                        !g_ascii_isalnum(name[0]) || !g_ascii_isalnum(name[size - 1]) || strstr(name, "--") ||
                        strstr(name, ".."))
                return "must be 1 to 64 characters of a-z, 0-9, '.' and '-', begin and end with a letter or "
                       "digit, and hold neither '--' nor '..'";
        return is_reserved(name) ? "must not be a name that Windows reserves for a device" : NULL;
}

/* The words that the template's places stand for. */
typedef struct Words {
        char *name, *title, *tool, *command, *suffix;
} Words;

static void words_done(Words *words) {
        g_free(words->name);
        g_free(words->title);
        g_free(words->tool);
        g_free(words->command);
        g_free(words->suffix);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_done)

static void words_init(Words *words, const char *name, bool typescript) {
        /* "hello" in front: a name alone may be one of the core's tools, and may begin with a digit. */
        g_autofree char *part = g_strndup(name, NAME_IN_REGISTERED);

        words->name = g_strdup(name);
        words->title = g_strdelimit(g_strdup(name), "-.", ' ');
        words->title[0] = g_ascii_toupper(words->title[0]);
        words->tool = g_strdelimit(g_strconcat(PREFIX "_", part, NULL), "-.", '_');
        words->command = g_strdelimit(g_strconcat(PREFIX "-", part, NULL), ".", '-');
        words->suffix = g_strdup(typescript ? "mts" : "mjs");
}

static char *fill_in(const char *text, const Words *words) {
        const struct {
                const char *place, *word;
        } places[] = {
                { "@NAME@", words->name },
                { "@TITLE@", words->title },
                { "@TOOL@", words->tool },
                { "@COMMAND@", words->command },
                { "@SUFFIX@", words->suffix },
        };
        g_autoptr(GString) out = g_string_new(text);

        for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
                (void) g_string_replace(out, places[i].place, places[i].word, 0);
        return g_string_free(g_steal_pointer(&out), FALSE);
}

/* NULL for the entry in the other language. */
static char *path_of(const char *path, const Words *words) {
        g_autofree char *entry = g_strconcat("native/entry.", words->suffix, NULL);

        if (g_str_has_prefix(path, "native/entry."))
                return strcmp(path, entry) == 0 ? g_strconcat("native/", words->name, ".", words->suffix, NULL)
                                                : NULL;
        if (strcmp(path, "test/entry.test.mjs") == 0)
                return g_strconcat("test/", words->name, ".test.mjs", NULL);
        return g_strdup(path);
}

static int write_file(int folder, const char *path, const char *text) {
        g_autofree char *parent = g_path_get_dirname(path);
        size_t left = strlen(text);
        _cleanup_close_ int fd = -EBADF;

        if (strcmp(parent, ".") != 0 && mkdirat(folder, parent, 0777) < 0 && errno != EEXIST)
                return -errno;
        fd = openat(folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0)
                return -errno;

        while (left > 0) {
                ssize_t n = write(fd, text, left);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0) {
                        text += n;
                        left -= (size_t) n;
                }
        }
        return 0;
}

int scaffold_write(const char *folder, const char *name, bool typescript, char **ret_failed) {
        _cleanup_close_ int fd = -EBADF;
        g_auto(Words) words = {};
        int r = 0;

        words_init(&words, name, typescript);
        if (mkdir(folder, 0777) < 0)
                r = -errno;
        else if ((fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
                r = -errno;
        if (r < 0)
                *ret_failed = g_strdup(folder);

        for (const ScaffoldFile *file = scaffold_files; r >= 0 && file->path; file++) {
                g_autofree char *path = path_of(file->path, &words), *text = fill_in(file->text, &words);

                r = path ? write_file(fd, path, text) : 0;
                if (r < 0)
                        *ret_failed = g_build_filename(folder, path, NULL);
        }
        return r;
}
