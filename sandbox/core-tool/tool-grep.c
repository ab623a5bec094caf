/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "sandbox/core-tool/tool.h"

typedef struct Grep {
        Answer *answer;
        GRegex *regex;
        GPatternSpec *glob; /* NULL: every file */
        uint64_t found, limit, files;
        bool more;
} Grep;

static void add_match(Grep *grep, const char *relative, uint64_t number, const char *line, size_t size) {
        answer_printf(grep->answer, "%s:%" PRIu64 ":", relative, number);
        answer_add(grep->answer, line, MIN(size, CORE_LINE_BYTES_MAX));
        answer_add(grep->answer, size > CORE_LINE_BYTES_MAX ? "...\n" : "\n", size > CORE_LINE_BYTES_MAX ? 4 : 1);
}

/* Returns whether there is room for more. */
static bool grep_text(Grep *grep, const char *relative, const char *data, size_t size) {
        const char *at = data, *end = data + size;
        uint64_t number = 0;
        bool here = false;

        for (; at < end; at++) {
                const char *newline = memchr(at, '\n', (size_t) (end - at));
                size_t length = (size_t) ((newline ? newline : end) - at);

                number++;
                if (g_regex_match_full(grep->regex, at, (gssize) length, 0, 0, NULL, NULL)) {
                        if (grep->found == grep->limit) {
                                grep->more = true;
                                return false;
                        }
                        grep->found++;
                        grep->files += !here;
                        here = true;
                        add_match(grep, relative, number, at, length);
                }
                at += length;
        }
        return true;
}

static bool on_file(const char *relative, int directory, const char *name, void *userdata) {
        _cleanup_close_ int fd = -EBADF;
        g_autofree char *data = NULL;
        Grep *grep = userdata;
        size_t size;

        if (grep->glob && !g_pattern_spec_match_string(grep->glob, name))
                return true;
        fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || safe_read_fd(fd, CORE_GREP_BYTES_MAX, &data, &size) < 0)
                return true;
        /* What is no text has no lines to show. */
        if (memchr(data, '\0', size) || !g_utf8_validate(data, (gssize) size, NULL))
                return true;
        return grep_text(grep, relative, data, size);
}

static GRegex *compile(Jval input, Answer *answer) {
        const char *pattern = jval_text(jval_member(input, "pattern"));
        GRegexCompileFlags flags = tool_flag(input, "ignore_case") ? G_REGEX_CASELESS : 0;
        g_autoptr(GError) error = NULL;
        GRegex *regex = g_regex_new(pattern, flags | G_REGEX_OPTIMIZE, 0, &error);

        if (!regex)
                answer_fail(answer, "The pattern can't be used: %s.", error->message);
        return regex;
}

void tool_grep_files(const Workspace *workspace, Jval input, Answer *answer) {
        const char *path = jval_text(jval_member(input, "path")), *glob = jval_text(jval_member(input, "glob"));
        g_autofree char *relative = workspace_relative(workspace, path ? path : ".", answer);
        g_autoptr(GRegex) regex = relative ? compile(input, answer) : NULL;
        Grep grep = {
                .answer = answer,
                .regex = regex,
                .limit = tool_number(input, "limit", CORE_SEARCH_RESULTS, CORE_SEARCH_RESULTS_MAX),
        };
        int r;

        if (!regex)
                return;
        grep.glob = glob ? g_pattern_spec_new(glob) : NULL;
        r = workspace_walk(workspace, relative, on_file, &grep, answer);
        g_clear_pointer(&grep.glob, g_pattern_spec_free);
        if (r < 0)
                return;
        if (grep.more || r > 0)
                answer_printf(answer, "[there is more]\n");
        jwriter_member_uint(answer_facts(answer), "matches", grep.found);
        jwriter_member_uint(answer_facts(answer), "files", grep.files);
}
