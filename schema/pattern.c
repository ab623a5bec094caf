/* SPDX-License-Identifier: MIT */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <errno.h>
#include <pcre2.h>
#include <string.h>

#include "common/limits.h"
#include "schema/pattern-simple.h"
#include "schema/pattern.h"

/* More than this is not kept between matches. */
#define SCRATCH_KEPT_MAX KIB(256)
#define SCRATCH_MAX      MIB(8)

struct Pattern {
        PatternSimple *simple; /* NULL: too much for it */
        pcre2_code *code;      /* NULL when simple is there */
};

/* What one match needs beside the pattern. There are no threads, so one will do for all. */
static struct {
        pcre2_general_context *general;
        pcre2_match_context *context;
        pcre2_match_data *data;
        size_t largest;
} scratch;

static void *scratch_alloc(size_t size, void *userdata) {
        (void) userdata;
        scratch.largest = MAX(scratch.largest, size);
        return g_try_malloc(size);
}

static void scratch_free(void *memory, void *userdata) {
        (void) userdata;
        g_free(memory);
}

static bool scratch_prepare(void) {
        if (!scratch.general)
                scratch.general = pcre2_general_context_create(scratch_alloc, scratch_free, NULL);
        if (!scratch.context && scratch.general)
                scratch.context = pcre2_match_context_create(scratch.general);
        if (!scratch.data && scratch.context)
                scratch.data = pcre2_match_data_create(1, scratch.general);
        return scratch.data;
}

static void scratch_trim(void) {
        if (scratch.largest <= SCRATCH_KEPT_MAX)
                return;
        pcre2_match_data_free(scratch.data);
        scratch.data = NULL;
        scratch.largest = 0;
}

static int compile_code(const char *text, size_t size, pcre2_code **ret, char **ret_reason) {
        g_autofree char *translated = NULL;
        const char *reason;
        PCRE2_UCHAR message[128];
        PCRE2_SIZE offset;
        int code, r;

        r = regex_translate(text, size, &translated, &size, &reason);
        if (r < 0) {
                *ret_reason = g_strdup(reason);
                return r;
        }
        *ret = pcre2_compile((PCRE2_SPTR) translated, size,
                        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C,
                        &code, &offset, NULL);
        if (*ret)
                return 0;
        if (pcre2_get_error_message(code, message, sizeof(message)) < 0)
                strcpy((char *) message, "not understood");
        *ret_reason = g_strdup((const char *) message);
        return -EINVAL;
}

int pattern_compile(const char *text, size_t size, Pattern **ret, char **ret_reason) {
        g_autoptr(Pattern) pattern = g_new0(Pattern, 1);
        int r;

        if (size > SCHEMA_PATTERN_BYTES_MAX) {
                *ret_reason = g_strdup_printf("more than %u bytes", SCHEMA_PATTERN_BYTES_MAX);
                return -E2BIG;
        }

        /* The simple engine takes less than the language allows, so the other one judges first. */
        r = compile_code(text, size, &pattern->code, ret_reason);
        if (r < 0)
                return r;
        if (pattern_simple_compile(text, size, &pattern->simple) >= 0) {
                pcre2_code_free(pattern->code);
                pattern->code = NULL;
        }
        *ret = g_steal_pointer(&pattern);
        return 0;
}

Pattern *pattern_free(Pattern *pattern) {
        if (!pattern)
                return NULL;
        pattern_simple_free(pattern->simple);
        if (pattern->code)
                pcre2_code_free(pattern->code);
        g_free(pattern);
        return NULL;
}

size_t pattern_memory(const Pattern *pattern) {
        size_t size = 0;

        if (pattern->simple)
                return pattern_simple_memory();
        (void) pcre2_pattern_info(pattern->code, PCRE2_INFO_SIZE, &size);
        return size;
}

int pattern_match(const Pattern *pattern, const char *subject, size_t size) {
        int r;

        if (pattern->simple)
                return pattern_simple_match(pattern->simple, subject, size);
        if (!scratch_prepare())
                return -EDQUOT;

        (void) pcre2_set_match_limit(scratch.context, (uint32_t) MIN(SCHEMA_MATCH_MAX + 8 * size, UINT32_MAX / 2));
        (void) pcre2_set_heap_limit(scratch.context, SCRATCH_MAX / 1024);
        r = pcre2_match(pattern->code, (PCRE2_SPTR) subject, size, 0, PCRE2_NO_UTF_CHECK, scratch.data, scratch.context);
        scratch_trim();
        if (r >= 0)
                return 1;
        return r == PCRE2_ERROR_NOMATCH ? 0 : -EDQUOT;
}
