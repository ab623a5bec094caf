/* SPDX-License-Identifier: MIT */

/* What a host says of itself against what was launched (contract 3.17, hello checks). */

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/jdoc.h"
#include "service/host-handshake.h"

#define BUNDLE "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OTHER  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct {
        const char *id;
        const char *min, *max, *bundle, *tier, *runtime, *version, *modules;
        const char *said, *expected; /* both are named; NULL: it is taken */
} cases[] = {
        { "H02-same", "1", "1", BUNDLE, "plugin", "node", "24.1.0", "", NULL, NULL },
        { "H01-range-around", "0", "3", BUNDLE, "plugin", "node", "24.1.0", "", NULL, NULL },
        { "H01-newer-only", "2", "3", BUNDLE, "plugin", "node", "24.1.0", "", "2 to 3", "speaks 1" },
        { "H01-older-only", "0", "0", BUNDLE, "plugin", "node", "24.1.0", "", "0 to 0", "speaks 1" },
        { "H02-bundle", "1", "1", OTHER, "plugin", "node", "24.1.0", "", OTHER, BUNDLE },
        { "H02-tier", "1", "1", BUNDLE, "builtin", "node", "24.1.0", "", "builtin", "plugin" },
        { "H02-runtime", "1", "1", BUNDLE, "plugin", "bun", "24.1.0", "", "bun", "node" },
        { "H02-H13-version-of-a-replaced-binary", "1", "1", BUNDLE, "plugin", "node", "24.2.0", "", "24.2.0", "24.1.0" },
        { "H02-extra-module", "1", "1", BUNDLE, "plugin", "node", "24.1.0", "{\"id\":\"web\",\"sha256\":\"" OTHER "\"}",
          "builtin modules", "none was launched" },
};

static void test_hello(const void *data) {
        size_t i = GPOINTER_TO_SIZE(data);
        const HostExpectation expected = {
                .bundle_sha256 = (char *) BUNDLE, .runtime = (char *) "node", .version = (char *) "24.1.0", .tier = HOST_TIER_PLUGIN,
        };
        g_autofree char *text = g_strdup_printf(
                        "{\"protocol\":{\"min\":%s,\"max\":%s},\"bundle_sha256\":\"%s\",\"tier\":\"%s\",\"runtime\":{\"name\":\"%s\","
                        "\"version\":\"%s\"},\"builtin_modules\":[%s]}",
                        cases[i].min, cases[i].max, cases[i].bundle, cases[i].tier, cases[i].runtime, cases[i].version,
                        cases[i].modules);
        g_autofree char *reason = NULL;
        g_autoptr(Jdoc) doc = NULL;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        if (!cases[i].said) {
                g_assert_cmpint(host_hello_check(jdoc_root(doc), &expected, &reason), ==, 0);
                g_assert_null(reason);
                return;
        }
        g_assert_cmpint(host_hello_check(jdoc_root(doc), &expected, &reason), ==, -EPROTO);
        g_test_message("%s", reason);
        g_assert_nonnull(strstr(reason, cases[i].said));
        g_assert_nonnull(strstr(reason, cases[i].expected));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *path = g_strconcat("/handshake/", cases[i].id, NULL);

                g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_hello);
        }
        return g_test_run();
}
