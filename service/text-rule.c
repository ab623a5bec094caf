/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/limits.h"
#include "service/text-rule.h"

#define VARIABLE_CHARS_MAX 128

static bool is_bidi_control(gunichar c) {
        return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

const char *text_rule_check(const char *text, size_t size, size_t chars_max) {
        bool blank = true, control = false, bidi = false;
        size_t chars = 0;

        for (size_t at = 0; at < size; chars++) {
                /* The reader let only valid UTF-8 through, NUL included. */
                gunichar c = text[at] == '\0' ? 0 : g_utf8_get_char(text + at);

                control |= g_unichar_iscntrl(c);
                bidi |= is_bidi_control(c);
                blank &= g_unichar_isspace(c);
                at += c == 0 ? 1 : (size_t) g_unichar_to_utf8(c, NULL);
        }

        if (control)
                return "must not hold a control character";
        if (blank)
                return "must not be blank";
        if (bidi)
                return "must not hold a bidirectional control character";
        if (chars > chars_max)
                return "is too long";
        return NULL;
}

/* A folder of such a name, or of one that goes on with a dot, can't exist on Windows, so a bundle could not travel there. */
static bool is_device(const char *name) {
        static const char *const devices[] = { "con", "prn", "aux", "nul" };
        size_t length = strcspn(name, ".");

        for (size_t i = 0; i < G_N_ELEMENTS(devices); i++)
                if (length == 3 && strncmp(name, devices[i], 3) == 0)
                        return true;
        return length == 4 && (strncmp(name, "com", 3) == 0 || strncmp(name, "lpt", 3) == 0) && g_ascii_isdigit(name[3]);
}

const char *text_rule_check_name(const char *name, bool legacy) {
        static const char rule[] = "must be 1 to 64 characters of a-z, 0-9, '.' and '-', begin and end with a letter or "
                                   "digit, and hold neither '--' nor '..'";
        static const char legacy_rule[] = "must be 1 to 64 characters of a-z, 0-9 and '-', and begin and end with a "
                                          "letter or digit";
        size_t length = strlen(name);

        if (length < 1 || length > BUNDLE_NAME_CHARS_MAX ||
                        strspn(name, legacy ? "abcdefghijklmnopqrstuvwxyz0123456789-"
                                            : "abcdefghijklmnopqrstuvwxyz0123456789.-") != length ||
                        !g_ascii_isalnum(name[0]) || !g_ascii_isalnum(name[length - 1]))
                return legacy ? legacy_rule : rule;
        if (!legacy && (strstr(name, "--") || strstr(name, "..")))
                return rule;
        return is_device(name) ? "must not be a name that Windows reserves for a device" : NULL;
}

/* One dot-separated run of identifiers of a version; numbers may not begin with 0 where @numeric. Returns its end. */
static const char *skip_identifiers(const char *at, bool numeric) {
        for (;;) {
                size_t length = strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");

                if (length == 0)
                        return NULL;
                if (numeric && length > 1 && at[0] == '0' && strspn(at, "0123456789") == length)
                        return NULL;
                at += length;
                if (*at != '.')
                        return at;
                at++;
        }
}

static const char *skip_number(const char *at) {
        size_t length = strspn(at, "0123456789");

        return length == 0 || (length > 1 && at[0] == '0') ? NULL : at + length;
}

const char *text_rule_check_version(const char *version) {
        static const char rule[] = "must be a semantic version such as 1.2.0";
        const char *at = version;

        if (strlen(version) > 256)
                return rule;
        for (int part = 0; part < 3; part++) {
                at = skip_number(at);
                if (!at || (part < 2 && *at++ != '.'))
                        return rule;
        }
        if (*at == '-')
                at = skip_identifiers(at + 1, true);
        if (at && *at == '+')
                at = skip_identifiers(at + 1, false);
        return at && *at == '\0' ? NULL : rule;
}

static const char *check_component(const char *at, size_t length) {
        if (length == 0)
                return "must not hold an empty component ('//' or '/' at its end)";
        if (length == 1 && at[0] == '.')
                return "must not hold a '.' component";
        if (length == 2 && at[0] == '.' && at[1] == '.')
                return "must not hold a '..' component";
        return NULL;
}

const char *text_rule_check_path(const char *path) {
        const char *problem;

        if (*path == '\0')
                return "must not be empty";
        if (g_utf8_strlen(path, -1) > BUNDLE_PATH_BYTES_MAX || strlen(path) > BUNDLE_PATH_BYTES_MAX)
                return "must be at most 1024 characters";
        if (*path == '/')
                return "must be relative, without a '/' at its beginning";
        if (strchr(path, '\\'))
                return "must not hold a backslash";
        if (g_ascii_isalpha(path[0]) && path[1] == ':')
                return "must not begin with a drive letter";
        problem = text_rule_check(path, strlen(path), BUNDLE_PATH_BYTES_MAX);
        if (problem)
                return problem;

        for (const char *at = path;; at++) {
                size_t length = strcspn(at, "/");

                problem = check_component(at, length);
                if (problem)
                        return problem;
                at += length;
                if (*at == '\0')
                        return NULL;
        }
}

const char *text_rule_check_file_name(const char *name) {
        if (!g_utf8_validate(name, -1, NULL))
                return "must be UTF-8";
        for (const char *at = name; *at != '\0'; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                if (g_unichar_iscntrl(c))
                        return "must not hold a control character";
                if (is_bidi_control(c))
                        return "must not hold a bidirectional control character";
        }
        if (strchr(name, '\\'))
                return "must not hold a backslash";
        return NULL;
}

const char *text_rule_check_variable(const char *name) {
        size_t length = strlen(name);

        if (length < 1 || length > VARIABLE_CHARS_MAX || g_ascii_isdigit(name[0]))
                return "must be the name of an environment variable";
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_isalnum(name[i]) && name[i] != '_')
                        return "must be the name of an environment variable";
        return NULL;
}
