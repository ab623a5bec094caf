/* SPDX-License-Identifier: MIT */

/* Regular expressions: an expression, a NUL, a text. The two engines must agree. */

#define PCRE2_CODE_UNIT_WIDTH 8

#include <pcre2.h>
#include <string.h>

#include "common/jdoc-node.h"
#include "common/jdoc-scan.h"
#include "fuzz.h"
#include "schema/pattern-simple.h"
#include "schema/pattern.h"

/* 1, 0, or -1 when PCRE2 gives up. */
static int match_pcre2(const char *text, size_t size, const char *subject, size_t subject_size) {
        g_autofree char *translated = NULL;
        const char *reason;
        pcre2_match_context *context = pcre2_match_context_create(NULL);
        pcre2_match_data *match;
        pcre2_code *code;
        PCRE2_SIZE offset;
        int error, r;

        MUST(regex_translate(text, size, &translated, &size, &reason) >= 0);
        code = pcre2_compile((PCRE2_SPTR) translated, size, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF,
                        &error, &offset, NULL);
        MUST(code);
        match = pcre2_match_data_create(1, NULL);
        (void) pcre2_set_match_limit(context, 100000);
        r = pcre2_match(code, (PCRE2_SPTR) subject, subject_size, 0, PCRE2_NO_UTF_CHECK, match, context);
        pcre2_match_data_free(match);
        pcre2_match_context_free(context);
        pcre2_code_free(code);
        return r >= 0 ? 1 : r == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        const char *text = (const char *) data, *subject;
        const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
        size_t text_size, subject_size;
        g_autofree char *reason = NULL;
        g_autoptr(Pattern) pattern = NULL;
        PatternSimple *simple = NULL;
        int verdict, simple_verdict;

        if (!end)
                return 0;
        text_size = (size_t) (end - data);
        subject = text + text_size + 1;
        subject_size = size - text_size - 1;
        if (!jscan_is_utf8(text, text_size) || !jscan_is_utf8(subject, subject_size))
                return 0;
        if (pattern_compile(text, text_size, &pattern, &reason) < 0) {
                MUST(reason);
                return 0;
        }
        MUST(pattern_match(pattern, subject, subject_size) == pattern_match(pattern, subject, subject_size));

        if (pattern_simple_compile(text, text_size, &simple) < 0)
                return 0;
        simple_verdict = pattern_simple_match(simple, subject, subject_size);
        pattern_simple_free(simple);
        verdict = match_pcre2(text, text_size, subject, subject_size);
        MUST(verdict < 0 || verdict == simple_verdict);
        return 0;
}
