/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "common/sha256.h"
#include "sandbox/unit-name.h"

/* systemd takes names of 255 bytes; the prefix, a generation and ".service" have to fit beside the escaped
 * id. */
#define ESCAPED_MAX   200u
#define DIGEST_DIGITS 16u

static bool stays(char c, bool inner) {
        return g_ascii_isalnum(c) || c == ':' || c == '_' || (c == '.' && inner);
}

char *unit_name_escape(const char *text) {
        GString *out = g_string_new(NULL);

        assert(text);

        for (const char *at = text; *at; at++) {
                if (stays(*at, at > text))
                        g_string_append_c(out, *at);
                else
                        g_string_append_printf(out, "\\x%02x", (unsigned char) *at);
        }

        return g_string_free(out, FALSE);
}

/* Cuts between escapes, never inside one. */
static size_t cut_at(const char *escaped, size_t size_max) {
        size_t at = 0;

        for (;;) {
                size_t n = escaped[at] == '\\' ? 4 : 1;

                if (at + n > size_max)
                        return at;
                at += n;
        }
}

int unit_name_for_host(const char *plugin_id, uint64_t generation, char **ret) {
        g_autofree char *escaped = NULL, *digest = NULL;
        size_t size;

        assert(plugin_id);
        assert(ret);

        if (!*plugin_id)
                return -EINVAL;

        escaped = unit_name_escape(plugin_id);
        size = strlen(escaped);
        if (size <= ESCAPED_MAX) {
                *ret = g_strdup_printf(UNIT_HOST_PREFIX "%s-%" PRIu64 ".service", escaped, generation);
                return 0;
        }

        digest = sha256_hex(plugin_id, strlen(plugin_id));
        size = cut_at(escaped, ESCAPED_MAX - DIGEST_DIGITS - 1);
        *ret = g_strdup_printf(UNIT_HOST_PREFIX "%.*s_%.*s-%" PRIu64 ".service", (int) size, escaped,
                        (int) DIGEST_DIGITS, digest, generation);
        return 0;
}

char *unit_name_to_path(const char *unit) {
        char *path = NULL;
        int r;

        assert(unit);

        r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path);
        g_assert(r >= 0); /* out of memory ends us, as everywhere */

        return path;
}
