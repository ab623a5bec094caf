/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "service/skill-path.h"

static const char *segment_check(const char *segment, size_t length) {
        if (length == 0)
                return "has an empty segment";
        if (length == 1 && segment[0] == '.')
                return "has the segment \".\"";
        if (length == 2 && memcmp(segment, "..", 2) == 0)
                return "has the segment \"..\"";
        return NULL;
}

static const char *characters_check(const char *path, size_t size) {
        if (!g_utf8_validate(path, (gssize) size, NULL))
                return "is not UTF-8 text";

        for (const char *at = path; at < path + size; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (c == '\\')
                        return "holds a backslash";
                if (c == ':')
                        return "holds a colon";
                if (g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029)
                        return "holds control characters";
        }
        return NULL;
}

const char *skill_path_check(const char *path, size_t size) {
        const char *problem, *at = path;

        if (size == 0)
                return "is empty";
        if (size > SKILL_PATH_BYTES_MAX)
                return "is longer than 512 bytes";
        if (memchr(path, '\0', size))
                return "holds NUL";
        if (path[0] == '/')
                return "is absolute";
        if (path[size - 1] == '/')
                return "ends in a slash";
        problem = characters_check(path, size);
        if (problem)
                return problem;

        while (at <= path + size) {
                const char *slash = memchr(at, '/', (size_t) (path + size - at)), *end = slash ?: path + size;

                problem = segment_check(at, (size_t) (end - at));
                if (problem)
                        return problem;
                at = end + 1;
        }
        return NULL;
}
