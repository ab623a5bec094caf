/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "schema/format-checks.h"

#if HAVE_LIBIDN2
#include <idn2.h>

#define IDN_BYTES_MAX 1024u

/* One label as the registration protocol of IDNA 2008 (RFC 5891) judges it; its A-label when it is all right. */
static bool register_label(const char *text, size_t size, bool is_alabel, char **ret) {
        g_autofree char *label = g_strndup(text, size);
        uint8_t *result = NULL;
        int r;

        if (strlen(label) != size)
                return false;
        r = idn2_register_u8(is_alabel ? NULL : (const uint8_t *) label, is_alabel ? (const uint8_t *) label : NULL,
                        &result, 0);
        if (r == IDN2_OK && ret)
                *ret = g_strdup((const char *) result);
        idn2_free(result);
        return r == IDN2_OK;
}
#endif

bool format_alabel(const char *text, size_t size) {
#if HAVE_LIBIDN2
        g_autofree char *lower = g_ascii_strdown(text, (gssize) size);

        return register_label(lower, size, true, NULL);
#else
        (void) text;
        return size > 4;
#endif
}

static bool is_ascii(const char *text, size_t size) {
        for (size_t i = 0; i < size; i++)
                if (text[i] & 0x80)
                        return false;
        return true;
}

/* The length of a label separator (RFC 3490, 3.1); 0 when there is none. */
static size_t separator_size(const char *at, const char *end) {
        static const char *const wide[] = { "。", "．", "｡" };

        if (*at == '.')
                return 1;
        for (size_t i = 0; i < G_N_ELEMENTS(wide); i++)
                if (end - at >= 3 && memcmp(at, wide[i], 3) == 0)
                        return 3;
        return 0;
}

static bool runs_from_right(gunichar c) {
        return (c >= 0x590 && c <= 0x8ff) || (c >= 0xfb1d && c <= 0xfdff) || (c >= 0xfe70 && c <= 0xfefc) ||
                        (c >= 0x10800 && c <= 0x10fff) || (c >= 0x1e800 && c <= 0x1efff);
}

static bool has_right_to_left(const char *text, size_t size) {
        for (const char *at = text; at < text + size; at = g_utf8_next_char(at))
                if (runs_from_right(*at ? g_utf8_get_char(at) : 0))
                        return true;
        return false;
}

/* Digits of both kinds in one label, which its direction forbids (RFC 5893, 2). */
static bool mixes_digits(const char *text, size_t size) {
        bool european = false, arabic = false;

        for (const char *at = text; at < text + size; at = g_utf8_next_char(at)) {
                gunichar c = *at ? g_utf8_get_char(at) : 0;

                european |= (c >= '0' && c <= '9') || (c >= 0x6f0 && c <= 0x6f9);
                arabic |= c >= 0x660 && c <= 0x669;
        }
        return european && arabic;
}

static bool is_idn_label(const char *text, size_t size, bool right_to_left, size_t *ret_size) {
        *ret_size = size;
        if (is_ascii(text, size)) {
                /* In a name with text that runs from the right no label may begin with a digit (RFC 5893). */
                if (right_to_left && size > 0 && g_ascii_isdigit(*text))
                        return false;
                return format_hostname(text, size);
        }
        if (mixes_digits(text, size))
                return false;
#if HAVE_LIBIDN2
        {
                g_autofree char *alabel = NULL;

                if (size > IDN_BYTES_MAX || !register_label(text, size, false, &alabel))
                        return false;
                *ret_size = strlen(alabel);
                return *ret_size <= 63;
        }
#else
        return size <= 252;
#endif
}

bool format_idn_hostname(const char *text, size_t size) {
        const char *end = text + size;
        bool right_to_left = has_right_to_left(text, size);
        size_t total = 0;

        for (;;) {
                const char *label = text;
                size_t separator = 0, label_size;

                while (text < end && (separator = separator_size(text, end)) == 0)
                        text++;
                if (!is_idn_label(label, (size_t) (text - label), right_to_left, &label_size))
                        return false;
                total += label_size + 1;
                if (total > 254)
                        return false;
                if (text == end)
                        return true;
                text += separator;
        }
}
