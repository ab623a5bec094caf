/* SPDX-License-Identifier: MIT */
#pragma once

/* A bundle of a folder, loaded, and what to say of it; for the tests of bundles. */

#include <errno.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "fixture.h"
#include "service/bundle.h"

typedef struct Loaded {
        int r;
        Bundle *bundle;
        Diagnostics *diagnostics; /* of the load */
} Loaded;

static inline Loaded load_with(const char *folder, bool extension_host) {
        BundleOptions options = { .extension_host = extension_host };
        _cleanup_close_ int root = safe_open_directory(folder);
        g_autoptr(BundleLoad) load = bundle_load_new(root, &options);
        Loaded loaded = { .r = bundle_load_run(load), .diagnostics = diagnostics_new() };

        diagnostics_append(loaded.diagnostics, bundle_load_get_diagnostics(load));
        if (loaded.r >= 0)
                loaded.bundle = bundle_load_steal(load);
        return loaded;
}

static inline void loaded_done(Loaded *loaded) {
        bundle_free(loaded->bundle);
        diagnostics_free(loaded->diagnostics);
}

static inline char *hash_of(const char *folder) {
        Loaded loaded = load_with(folder, true);
        char *hash;

        g_assert_cmpint(loaded.r, ==, 0);
        g_assert_nonnull(loaded.bundle->content_hash);
        hash = g_strdup(loaded.bundle->content_hash);
        loaded_done(&loaded);
        return hash;
}

static inline void own(const char *folder, const char *keys) {
        fixture_write_format(folder, "plugin.json",
                        "{\"$schema\":\"" MANIFEST_SCHEMA_URL "\",\"name\":\"x\",\"extensions\":{\"net.codewhale\":{%s}}}", keys);
}

static inline void link_to(const char *target, const char *folder, const char *path) {
        g_autofree char *full = g_build_filename(folder, path, NULL);

        g_assert_cmpint(symlink(target, full), ==, 0);
}

/* The bundle is there but can't be trusted, and this is why. */
static inline void assert_broken(const char *folder, DiagnosticCode code, const char *path) {
        Loaded loaded = load_with(folder, true);
        const Diagnostic *item;

        g_assert_cmpint(loaded.r, ==, 0);
        item = diagnostics_find(loaded.bundle->diagnostics, code);
        for (size_t i = 0; i < diagnostics_count(loaded.bundle->diagnostics); i++)
                g_test_message("%s: %s", diagnostics_get(loaded.bundle->diagnostics, i)->path,
                                diagnostics_get(loaded.bundle->diagnostics, i)->message);
        g_assert_nonnull(item);
        if (path)
                g_assert_cmpstr(item->path, ==, path);
        g_assert_true(diagnostics_has_error(loaded.bundle->diagnostics));
        loaded_done(&loaded);
}
