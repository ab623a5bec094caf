/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "common/limits.h"
#include "sandbox/core-tool/tool.h"

/* Lines FIRST to FIRST + LIMIT - 1, counted from 1, as they are. */
static void add_lines(Answer *answer, const char *data, size_t size, uint64_t first, uint64_t limit, uint64_t *ret_lines) {
        const char *at = data, *end = data + size;
        uint64_t line = 0;

        while (at < end) {
                const char *newline = memchr(at, '\n', (size_t) (end - at));
                const char *next = newline ? newline + 1 : end;

                line++;
                if (line >= first && line - first < limit)
                        answer_add(answer, at, (size_t) (next - at));
                at = next;
        }
        *ret_lines = line;
}

void tool_read(const Workspace *workspace, Jval input, Answer *answer) {
        g_autofree char *relative = workspace_relative(workspace, jval_text(jval_member(input, "path")), answer);
        uint64_t first = tool_number(input, "offset", 1, UINT64_MAX);
        uint64_t limit = tool_number(input, "limit", UINT64_MAX, UINT64_MAX), lines = 0;
        g_autofree char *data = NULL;
        struct stat st;
        size_t size;

        if (!relative || workspace_read(workspace, relative, CORE_FILE_BYTES_MAX, &data, &size, &st, answer) < 0)
                return;
        if (memchr(data, '\0', size) || !g_utf8_validate(data, (gssize) size, NULL)) {
                answer_fail(answer, "%s is no text in UTF-8 (%zu bytes).", relative, size);
                return;
        }

        add_lines(answer, data, size, first, limit, &lines);
        if (first > lines && lines > 0)
                answer_fail(answer, "%s has only %" PRIu64 " lines.", relative, lines);
        jwriter_member_string(answer_facts(answer), "path", relative);
        jwriter_member_uint(answer_facts(answer), "bytes", size);
        jwriter_member_uint(answer_facts(answer), "lines", lines);
}
