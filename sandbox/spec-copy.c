/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <glib.h>
#include <stddef.h>

#include "sandbox/spec.h"

/* Every text and every list of a specification. */
static const size_t texts[] = {
        offsetof(SandboxSpec, unit),
        offsetof(SandboxSpec, description),
        offsetof(SandboxSpec, plugin_id),
        offsetof(SandboxSpec, binds_to),
        offsetof(SandboxSpec, user),
        offsetof(SandboxSpec, root),
        offsetof(SandboxSpec, etc),
        offsetof(SandboxSpec, launcher),
        offsetof(SandboxSpec, runtime),
        offsetof(SandboxSpec, bundle),
        offsetof(SandboxSpec, plugin_tree),
        offsetof(SandboxSpec, data_directory),
        offsetof(SandboxSpec, workspace),
        offsetof(SandboxSpec, certificates),
};
static const size_t lists[] = {
        offsetof(SandboxSpec, arguments),
        offsetof(SandboxSpec, environment),
        offsetof(SandboxSpec, sockets),
        offsetof(SandboxSpec, abstract),
        offsetof(SandboxSpec, hidden),
};

SandboxSpec *sandbox_spec_copy(const SandboxSpec *spec) {
        SandboxSpec *copy = g_new(SandboxSpec, 1);

        assert(spec);

        *copy = *spec;
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                char **text = (char **) ((char *) copy + texts[i]);

                *text = g_strdup(*text);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
                char ***list = (char ***) ((char *) copy + lists[i]);

                *list = g_strdupv(*list);
        }

        return copy;
}

SandboxSpec *sandbox_spec_free(SandboxSpec *spec) {
        if (!spec)
                return NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                g_free(*(char **) ((char *) spec + texts[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                g_strfreev(*(char ***) ((char *) spec + lists[i]));
        g_free(spec);
        return NULL;
}
