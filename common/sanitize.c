/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/plain-text.h"
#include "common/sanitize.h"

#define ELLIPSIS "…"

static bool is_dangerous(gunichar c) {
        switch (g_unichar_type(c)) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT: /* bidirectional controls, zero-width joiners, soft hyphen, tags */
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
        case G_UNICODE_PRIVATE_USE:
        case G_UNICODE_SURROGATE:
        case G_UNICODE_UNASSIGNED:
                return true;
        default:
                break;
        }

        /* Default-ignorable or blank although they are no format characters: they show nothing and so can hide text. */
        return c == 0x034f || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 || (c >= 0x180b && c <= 0x180f) ||
                        c == 0x2800 || c == 0x3164 || c == 0xffa0 || (c >= 0xfe00 && c <= 0xfe0f) ||
                        (c >= 0xe0100 && c <= 0xe01ef) || (c != ' ' && g_unichar_type(c) == G_UNICODE_SPACE_SEPARATOR);
}

static void append_escape(GString *out, gunichar c) {
        if (c < 0x100)
                g_string_append_printf(out, "\\x%02x", c);
        else
                g_string_append_printf(out, "\\u{%x}", c);
}

/* One character, or one byte that begins none, from @text into @out; returns the bytes taken. */
static size_t sanitize_character(
                const char *text, size_t left, bool lines, GString *out, SanitizeFlags *flags) {
        gunichar c;

        /* Nearly all there is, and nothing to decide about it. */
        if (*text >= ' ' && *text <= '~') {
                g_string_append_c(out, *text);
                return 1;
        }

        c = g_utf8_get_char_validated(text, (gssize) left);
        if (*text == '\0' || c == (gunichar) -1 || c == (gunichar) -2) {
                append_escape(out, (unsigned char) *text);
                *flags |= SANITIZE_ESCAPED;
                return 1;
        }
        if (is_dangerous(c) && !(lines && (c == '\n' || c == '\t'))) {
                append_escape(out, c);
                *flags |= SANITIZE_ESCAPED;
        } else
                g_string_append_unichar(out, c);

        return (size_t) g_unichar_to_utf8(c, NULL);
}

static char *sanitize(const char *text, size_t size, size_t bytes_max, bool lines, SanitizeFlags *ret_flags) {
        g_autoptr(GString) out = NULL;
        SanitizeFlags flags = 0;
        size_t fits = 0; /* the longest prefix after which an ellipsis still fits */

        if (size <= bytes_max && plain_text_is(text, size)) {
                if (ret_flags)
                        *ret_flags = 0;
                return g_strndup(text, size);
        }
        out = g_string_sized_new(MIN(size, bytes_max) + 1);
        for (size_t at = 0; at < size;) {
                at += sanitize_character(text + at, size - at, lines, out, &flags);

                if (out->len > bytes_max) {
                        flags |= SANITIZE_CUT;
                        g_string_truncate(out, fits);
                        if (fits + strlen(ELLIPSIS) <= bytes_max)
                                g_string_append(out, ELLIPSIS);
                        break;
                }
                if (out->len + strlen(ELLIPSIS) <= bytes_max)
                        fits = out->len;
        }

        if (ret_flags)
                *ret_flags = flags;
        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *sanitize_line(const char *text, size_t bytes_max, SanitizeFlags *ret_flags) {
        return sanitize(text, strlen(text), bytes_max, false, ret_flags);
}

char *sanitize_block(const char *text, size_t bytes_max, SanitizeFlags *ret_flags) {
        return sanitize(text, strlen(text), bytes_max, true, ret_flags);
}

char *sanitize_block_n(const char *text, size_t size, size_t bytes_max, SanitizeFlags *ret_flags) {
        return sanitize(text, size, bytes_max, true, ret_flags);
}

/* Where the control sequence ends whose parameters begin at @at. */
static size_t control_sequence_end(const char *text, size_t size, size_t at) {
        for (; at < size && !(text[at] >= 0x40 && text[at] <= 0x7e); at++)
                if (text[at] < 0x20)
                        return at;

        return MIN(at + 1, size);
}

/* Where the control string ends that begins at @at: after BEL or ST, or before whatever else it can't hold. */
static size_t control_string_end(const char *text, size_t size, size_t at) {
        for (; at < size; at++) {
                if (text[at] == '\a')
                        return at + 1;
                if (text[at] == '\x1b')
                        return at + 1 < size && text[at + 1] == '\\' ? at + 2 : at;
                if (text[at] == '\n')
                        return at;
        }
        return size;
}

/* The end of an escape sequence (ECMA-48) after its ESC. */
static size_t escape_end(const char *text, size_t size, size_t at) {
        if (at >= size)
                return size;
        if (text[at] == '[')
                return control_sequence_end(text, size, at + 1);
        if (text[at] != '\0' && strchr("]PX^_", text[at]))
                return control_string_end(text, size, at + 1);

        while (at < size && text[at] >= 0x20 && text[at] <= 0x2f)
                at++;
        return at < size && text[at] >= 0x30 && text[at] <= 0x7e ? at + 1 : at;
}

/* The same after a C1 control, which is ESC and a letter in one character. */
static size_t c1_end(const char *text, size_t size, size_t at, gunichar c) {
        switch (c) {
        case 0x9b:
                return control_sequence_end(text, size, at);
        case 0x90: /* DCS, SOS, OSC, PM, APC */
        case 0x98:
        case 0x9d:
        case 0x9e:
        case 0x9f:
                return control_string_end(text, size, at);
        default:
                return at;
        }
}

char *sanitize_strip(const char *text, size_t size) {
        g_autoptr(GString) out = g_string_sized_new(size + 1);

        for (size_t at = 0; at < size;) {
                gunichar c = text[at] == '\0' ? 0 : g_utf8_get_char_validated(text + at, (gssize) (size - at));

                if (c == (gunichar) -1 || c == (gunichar) -2) {
                        g_string_append(out, "\xef\xbf\xbd");
                        at++;
                        continue;
                }
                at += c == 0 ? 1 : (size_t) g_unichar_to_utf8(c, NULL);
                if (c == 0x1b)
                        at = escape_end(text, size, at);
                else if (c >= 0x80 && c < 0xa0)
                        at = c1_end(text, size, at, c);
                else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f))
                        g_string_append_unichar(out, c);
        }

        return g_string_free(g_steal_pointer(&out), FALSE);
}
