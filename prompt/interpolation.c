/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "prompt/interpolation.h"

#define OPENING "{{"
#define CLOSING "}}"
#define BRACES  2

typedef enum Variable { VARIABLE_MODEL, VARIABLE_CWD, _VARIABLE_MAX } Variable;

static const char *const variable_names[_VARIABLE_MAX] = {
        [VARIABLE_MODEL] = "model",
        [VARIABLE_CWD] = "cwd",
};

/* The next variable at or after @text. Return: 1 and where it stands, 0 when there is none, -EINVAL and
 * where it is bad. */
static int find_variable(
                const char *text, const char **ret_begin, const char **ret_end, Variable *ret_variable) {
        const char *begin = strstr(text, OPENING);
        const char *end = begin ? strstr(begin + BRACES, CLOSING) : NULL;

        if (!end)
                return 0;

        *ret_begin = begin;
        for (int i = 0; i < _VARIABLE_MAX; i++) {
                size_t size = strlen(variable_names[i]);

                if ((size_t) (end - begin) - BRACES == size &&
                                strncmp(begin + BRACES, variable_names[i], size) == 0) {
                        *ret_end = end + BRACES;
                        *ret_variable = i;
                        return 1;
                }
        }
        return -EINVAL;
}

int interpolation_check(const char *text, size_t *ret_bad) {
        const char *at = text, *begin, *end;
        Variable variable;
        int r;

        while ((r = find_variable(at, &begin, &end, &variable)) > 0)
                at = end;

        if (r < 0 && ret_bad)
                *ret_bad = (size_t) (begin - text);
        return r;
}

int interpolation_expand(
                const char *text, const char *model, const char *cwd, size_t bytes_max, GString *out) {
        const char *values[_VARIABLE_MAX] = { [VARIABLE_MODEL] = model, [VARIABLE_CWD] = cwd };
        const char *at = text, *begin, *end;
        size_t before = out->len;
        Variable variable;
        int r;

        while ((r = find_variable(at, &begin, &end, &variable)) > 0) {
                g_string_append_len(out, at, begin - at);
                g_string_append(out, values[variable]);
                at = end;
                if (out->len - before > bytes_max)
                        break;
        }
        if (r >= 0)
                g_string_append(out, at);
        if (r >= 0 && out->len - before > bytes_max)
                r = -E2BIG;
        if (r < 0) {
                g_string_truncate(out, before);
                return r;
        }
        return 0;
}
