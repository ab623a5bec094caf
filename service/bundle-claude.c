/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/limits.h"
#include "common/safe-file.h"
#include "service/bundle-claude.h"

#define CLAUDE_ROOT "${CLAUDE_PLUGIN_ROOT}"

static const struct {
        const char *path;
        const char *why;
} refused[] = {
        { "hooks/hooks.json", "Hooks of a Claude bundle are not supported, so the bundle can't be used." },
        { ".lsp.json", "Language servers of a Claude bundle are not supported, so the bundle can't be used." },
};

/* Texts that tell an agent to run something under a root that it will not have. */
static void check_text(const BundleNode *node, int root, Diagnostics *diagnostics) {
        g_autofree char *text = NULL;
        size_t size = 0;
        int r;

        if (node->directory || !g_str_has_suffix(node->path, ".md"))
                return;
        r = safe_read_at(root, node->path, SKILL_FILE_BYTES_MAX, &text, &size);
        if (r < 0)
                diagnostics_add(diagnostics, DIAGNOSTIC_MANIFEST_INVALID, node->path,
                                "It can't be searched for " CLAUDE_ROOT " (%s; at most %u bytes are), so the bundle can't be used.",
                                g_strerror(-r), (unsigned) SKILL_FILE_BYTES_MAX);
        else if (g_strstr_len(text, (gssize) size, CLAUDE_ROOT))
                diagnostics_add(diagnostics, DIAGNOSTIC_MANIFEST_INVALID, node->path,
                                "It uses " CLAUDE_ROOT ", which is not supported, so the bundle can't be used.");
}

void bundle_claude_check(const Manifest *manifest, const BundleTree *tree, int root, Diagnostics *diagnostics) {
        if (manifest->format != MANIFEST_CLAUDE)
                return;

        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
                if (bundle_tree_find(tree, refused[i].path))
                        diagnostics_add(diagnostics, DIAGNOSTIC_MANIFEST_INVALID, refused[i].path, "%s", refused[i].why);
        for (size_t i = 0; i < tree->nodes->len; i++)
                check_text(g_ptr_array_index(tree->nodes, i), root, diagnostics);
}
