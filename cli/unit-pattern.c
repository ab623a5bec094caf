/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "cli/unit-pattern.h"

static void append_escaped(GString *out, const char *text) {
        for (const char *at = text; *at; at++)
                if (*at == '/')
                        g_string_append_c(out, ':');
                else if (g_ascii_isalnum(*at) || *at == ':' || *at == '_' || (*at == '.' && at != text))
                        g_string_append_c(out, *at);
                else
                        g_string_append_printf(out, "\\x%02x", (unsigned char) *at);
}

char *unit_pattern_for_plugin(const char *plugin_id) {
        g_autoptr(GString) out = g_string_new("codewhale-host-");

        append_escaped(out, plugin_id);
        g_string_append(out, "-*.service");
        return g_string_free(g_steal_pointer(&out), FALSE);
}
