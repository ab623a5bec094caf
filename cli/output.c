/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "cli/output.h"
#include "common/cleanup.h"
#include "common/sanitize.h"

static const char *const style_table[_STYLE_MAX] = {
        [STYLE_PLAIN] = "\x1b[0m",
        [STYLE_BOLD] = "\x1b[1m",
        [STYLE_DIM] = "\x1b[2m",
        [STYLE_GOOD] = "\x1b[32m",
        [STYLE_WARNING] = "\x1b[33m",
        [STYLE_BAD] = "\x1b[31m",
};

const char *style_on(const Cli *cli, Style style) {
        assert(style >= 0 && style < _STYLE_MAX);

        return cli->colour ? style_table[style] : "";
}

void style_append(const Cli *cli, GString *out, Style style, const char *text) {
        g_autofree char *line = sanitize_line(text, OUTPUT_TEXT_BYTES_MAX, NULL);

        if (style == STYLE_PLAIN)
                g_string_append(out, line);
        else
                g_string_append_printf(
                                out, "%s%s%s", style_on(cli, style), line, style_on(cli, STYLE_PLAIN));
}

Style style_for_word(const char *word) {
        static const char *const good[] = { "active", "ok", "trusted", "ready", "allowed", "approved", "yes",
                NULL };
        static const char *const warning[] = { "enabled-untrusted", "not-reviewed", "content-changed",
                "capabilities-changed", "unstaged", "starting", "restarting", "unresponsive", "warning",
                "timed-out", "no-approver", "withdrawn", "cancelled", NULL };
        static const char *const bad[] = { "failed", "error", "unsupported", "denied", "refused-by-policy",
                "hook-denied", "hook-failed", NULL };

        if (g_strv_contains(good, word))
                return STYLE_GOOD;
        if (g_strv_contains(warning, word))
                return STYLE_WARNING;
        return g_strv_contains(bad, word) ? STYLE_BAD : STYLE_PLAIN;
}

size_t text_width(const char *line) {
        size_t width = 0;

        for (const char *at = line; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (!g_unichar_iszerowidth(c))
                        width += g_unichar_iswide(c) ? 2 : 1;
        }

        return width;
}

unsigned output_columns(void) {
        struct winsize size;

        if (!isatty(STDOUT_FILENO))
                return 0;
        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static int finish_stdout(void) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return EXIT_STATUS_OK;

        /* Whoever read us has read enough; that is no failure worth words. */
        if (errno != EPIPE)
                (void) fprintf(stderr, "codewhalectl: cannot write the output: %s\n", g_strerror(errno));
        return EXIT_STATUS_FAILURE;
}

/* JSON has such characters only inside strings, where \uXXXX means the same. */
char *output_json_escape(const char *json) {
        g_autoptr(GString) out = g_string_sized_new(strlen(json));

        for (const char *at = json; *at;) {
                gunichar c = g_utf8_get_char_validated(at, -1);
                size_t size = c == (gunichar) -1 || c == (gunichar) -2 ? 1
                                                                       : (size_t) g_unichar_to_utf8(c, NULL);
                g_autofree char *character = g_strndup(at, size), *block = NULL;
                SanitizeFlags flags = 0;

                block = sanitize_block(character, 16, &flags);
                if (!(flags & SANITIZE_ESCAPED))
                        g_string_append(out, character);
                else if (size == 1 && (unsigned char) *at >= 0x80)
                        g_string_append(out, "\\ufffd");
                else if (c == '\r')
                        g_string_append_c(out, ' '); /* between values; no string holds it raw */
                else if (c < 0x10000)
                        g_string_append_printf(out, "\\u%04x", c);
                else
                        g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                        0xdc00 + (c & 0x3ff));
                at += size;
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}

int output_json(const char *json) {
        g_autofree char *shown = isatty(STDOUT_FILENO) ? output_json_escape(json) : NULL;

        (void) fputs(shown ? shown : json, stdout);
        (void) fputc('\n', stdout);
        return finish_stdout();
}

int output_text(const char *text) {
        (void) fputs(text, stdout);
        if (*text && !g_str_has_suffix(text, "\n"))
                (void) fputc('\n', stdout);
        return finish_stdout();
}

static const char *pager_find(void) {
        static const char *const variables[] = { "CODEWHALE_PAGER", "PAGER" };

        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++) {
                const char *pager = g_getenv(variables[i]);

                if (pager)
                        return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
        }

        return "less";
}

static void G_GNUC_NORETURN pager_exec(const char *pager, int input) {
        /* The text is a stranger's in part: the pager is to start no shell or editor on a slip of a key. */
        (void) g_setenv("LESSSECURE", "1", TRUE);
        (void) g_setenv("LESS", "FRSXMK", FALSE);
        (void) g_setenv("LESSCHARSET", "utf-8", FALSE);

        if (dup2(input, STDIN_FILENO) >= 0) {
                (void) signal(SIGPIPE, SIG_DFL);
                (void) execl("/bin/sh", "sh", "-c", pager, (char *) NULL);
        }
        _exit(127);
}

static int write_all(int fd, const char *text, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                text += n;
                size -= (size_t) n;
        }

        return 0;
}

int output_pager(const char *text) {
        const char *pager = pager_find();
        int ends[2], status = 0, r;
        pid_t child;

        if (!pager)
                return -ENOENT;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;

        (void) fflush(stdout);
        child = fork();
        if (child < 0) {
                r = -errno;
                (void) close(ends[0]);
                (void) close(ends[1]);
                return r;
        }
        if (child == 0)
                pager_exec(pager, ends[0]);

        (void) close(ends[0]);
        r = write_all(ends[1], text, strlen(text));
        (void) close(ends[1]);

        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                return -ENOENT; /* there is no such program; nothing was shown */
        return r == -EPIPE ? 0 : r;
}

int output_page(const Cli *cli, const char *text) {
        if (!cli_has(cli, OPTION_NO_PAGER) && isatty(STDOUT_FILENO) && output_pager(text) >= 0)
                return EXIT_STATUS_OK;

        return output_text(text);
}
