/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/bundle-claude.h"
#include "service/bundle-component.h"
#include "service/bundle-skill.h"
#include "service/bundle.h"
#include "service/mcp-adapt.h"

struct BundleLoad {
        int root;
        BundleOptions options;
        Diagnostics *diagnostics; /* of what makes the bundle unusable */
        Bundle *bundle;
        BundleScan *scan;
        BundleTree *first; /* of the pass before */
        char *first_hash;
        bool comparing; /* @first with what is there now */
        size_t compared;
        uint64_t n_read;
};

Bundle *bundle_free(Bundle *bundle) {
        if (!bundle)
                return NULL;

        manifest_free(bundle->manifest);
        bundle_tree_unref(bundle->tree);
        g_free(bundle->content_hash);
        g_free(bundle->capability_hash);
        g_free(bundle->manifest_sha256);
        diagnostics_free(bundle->diagnostics);
        g_free(bundle);
        return NULL;
}

size_t bundle_count_native(const Bundle *bundle) {
        char **paths = bundle->manifest->components[COMPONENT_NATIVE];

        return bundle->tree && paths ? g_strv_length(paths) : 0;
}

const BundleNode *bundle_get_native(const Bundle *bundle, size_t index) {
        assert(index < bundle_count_native(bundle));

        return bundle_tree_find(bundle->tree, bundle->manifest->components[COMPONENT_NATIVE][index]);
}

const char *bundle_find_manifest(const BundleTree *tree) {
        for (ManifestFormat format = 0; format < _MANIFEST_FORMAT_MAX; format++)
                if (bundle_tree_find(tree, manifest_format_file(format)))
                        return manifest_format_file(format);
        return NULL;
}

BundleLoad *bundle_load_new(int root, const BundleOptions *options) {
        BundleLoad *load = g_new0(BundleLoad, 1);

        load->root = root;
        load->options = *options;
        if (load->options.previous)
                bundle_tree_ref(load->options.previous);
        load->diagnostics = diagnostics_new();
        return load;
}

BundleLoad *bundle_load_free(BundleLoad *load) {
        if (!load)
                return NULL;

        bundle_scan_free(load->scan);
        bundle_tree_unref(load->options.previous);
        bundle_tree_unref(load->first);
        g_free(load->first_hash);
        bundle_free(load->bundle);
        diagnostics_free(load->diagnostics);
        g_free(load);
        return NULL;
}

static int refuse_file(BundleLoad *load, DiagnosticCode code, const char *file, int error) {
        const char *why = error == -ELOOP  ? "It is a link, or behind one."
                        : error == -EFBIG  ? "It is larger than 1 MiB."
                        : error == -EBADFD ? "It is no regular file."
                        : error == -EAGAIN ? "It changed while it was read."
                                           : g_strerror(-error);

        diagnostics_add(load->diagnostics, code, file, "%s", why);
        return -EBADMSG;
}

/* The first file name that is there decides (1.2): a broken one does not fall through to the next. */
static int load_manifest(BundleLoad *load) {
        for (ManifestFormat format = 0; format < _MANIFEST_FORMAT_MAX; format++) {
                const char *file = manifest_format_file(format);
                g_autofree char *text = NULL;
                size_t size = 0;
                int r = safe_read_at(load->root, file, MANIFEST_BYTES_MAX, &text, &size);

                if (r == -ENOENT || r == -ENOTDIR)
                        continue;
                if (r < 0)
                        return refuse_file(load, DIAGNOSTIC_MANIFEST_INVALID, file, r);

                load->bundle = g_new0(Bundle, 1);
                load->bundle->diagnostics = diagnostics_new();
                r = manifest_parse(format, text, size, load->bundle->diagnostics, &load->bundle->manifest);
                if (r < 0) {
                        diagnostics_append(load->diagnostics, load->bundle->diagnostics);
                        return -EBADMSG;
                }
                load->bundle->manifest_sha256 = sha256_hex(text, size);
                return 1;
        }
        return -ENOENT;
}

static int changed(BundleLoad *load) {
        diagnostics_add(load->diagnostics, DIAGNOSTIC_BUNDLE_CHANGED, NULL, "The bundle changed while it was read.");
        return -EAGAIN;
}

/* The manifest was read before the tree: what was understood must be what was hashed. */
static bool is_same_file(const BundleTree *tree, const char *path, const char *sha256) {
        const BundleNode *node = bundle_tree_find(tree, path);

        return node && strcmp(node->sha256, sha256) == 0;
}

/* The file beside the manifest that defines MCP servers, where the format has one */
static const char *mcp_file_of(ManifestFormat format) {
        return format == MANIFEST_PLUGIN_JSON ? MCP_FILE_NAME : format == MANIFEST_CLAUDE ? MCP_CLAUDE_FILE_NAME : NULL;
}

static void parse_mcp(Bundle *bundle, const char *file, const char *text, size_t size) {
        Manifest *manifest = bundle->manifest;
        ManifestReader reader = {
                .diagnostics = bundle->diagnostics,
                .code = DIAGNOSTIC_MCP_INVALID,
                .file = file,
        };

        if (manifest->format == MANIFEST_PLUGIN_JSON)
                (void) mcp_manifest_parse(&reader, text, size, &manifest->mcp);
        else if (manifest->mcp)
                manifest_reader_problem(&reader, NULL, "The manifest defines MCP servers already.");
        else if (mcp_adapt_parse(&reader, text, size, &manifest->mcp) >= 0)
                manifest->network_hosts = mcp_adapt_hosts(manifest->mcp);
}

static int load_mcp(BundleLoad *load, const BundleTree *tree) {
        const char *file = mcp_file_of(load->bundle->manifest->format);
        g_autofree char *text = NULL, *sha256 = NULL;
        size_t size = 0;
        int r;

        if (!file || !bundle_tree_find(tree, file))
                return 0;

        r = safe_read_at(load->root, file, MANIFEST_BYTES_MAX, &text, &size);
        if (r < 0) {
                diagnostics_add(load->bundle->diagnostics, DIAGNOSTIC_MCP_INVALID, file, "%s",
                                r == -EFBIG ? "It is larger than 1 MiB." : "It can't be read.");
                return 0;
        }
        sha256 = sha256_hex(text, size);
        if (!is_same_file(tree, file, sha256))
                return changed(load);

        parse_mcp(load->bundle, file, text, size);
        return 0;
}

static int finish(BundleLoad *load, BundleTree *tree, const char *hash) {
        Bundle *bundle = load->bundle;
        int r;

        r = load_mcp(load, tree);
        if (r < 0) {
                bundle_tree_unref(tree);
                return r;
        }
        bundle->tree = tree;
        bundle->content_hash = g_strdup(hash);
        bundle_claude_check(bundle->manifest, tree, load->root, bundle->diagnostics);
        bundle_component_check(bundle->manifest, tree, load->options.extension_host, bundle->diagnostics);
        bundle_skill_check(bundle->manifest, tree, load->root, bundle->diagnostics);
        inventory_take(bundle->manifest, tree, &bundle->inventory);
        bundle->capability_hash = inventory_hash(&bundle->inventory, load->options.extension_host);
        return 0;
}

/* A pass is complete. The second must find what the first did; where nothing was touched, stat() alone shows it. */
static int finish_pass(BundleLoad *load) {
        g_autoptr(BundleTree) tree = bundle_scan_steal(load->scan);
        const char *file = manifest_format_file(load->bundle->manifest->format);
        g_autofree char *hash = bundle_tree_hash(tree, file);

        load->n_read += bundle_scan_get_progress(load->scan);
        load->scan = bundle_scan_free(load->scan);

        if (!is_same_file(tree, file, load->bundle->manifest_sha256))
                return changed(load);
        if (load->first_hash)
                return strcmp(load->first_hash, hash) == 0 ? finish(load, g_steal_pointer(&tree), hash) : changed(load);

        load->first = g_steal_pointer(&tree);
        load->first_hash = g_steal_pointer(&hash);
        load->comparing = true;
        return 1;
}

static int compare_pass(BundleLoad *load) {
        int r = bundle_tree_compare(load->first, load->root, &load->compared);

        if (r > 0)
                return 1;
        load->comparing = false;
        if (r == 0)
                return finish(load, g_steal_pointer(&load->first), load->first_hash);

        load->scan = bundle_scan_new(load->root, load->options.flags, load->first, load->bundle->diagnostics);
        return 1;
}

/* Without a tree there is no hash, so it can't be trusted; what it says about itself can still be shown. */
static int finish_without_tree(BundleLoad *load) {
        load->scan = bundle_scan_free(load->scan);
        if (diagnostics_find(load->bundle->diagnostics, DIAGNOSTIC_BUNDLE_CHANGED))
                return changed(load);
        return 0;
}

int bundle_load_step(BundleLoad *load) {
        int r;

        if (!load->bundle) {
                r = load_manifest(load);
                if (r > 0)
                        load->scan = bundle_scan_new(
                                        load->root, load->options.flags, load->options.previous, load->bundle->diagnostics);
                return r;
        }

        if (load->comparing)
                return compare_pass(load);

        assert(load->scan);
        r = bundle_scan_step(load->scan);
        if (r > 0)
                return 1;
        return r < 0 ? finish_without_tree(load) : finish_pass(load);
}

int bundle_load_run(BundleLoad *load) {
        int r;

        do
                r = bundle_load_step(load);
        while (r > 0);
        return r;
}

Bundle *bundle_load_steal(BundleLoad *load) {
        return g_steal_pointer(&load->bundle);
}

const Diagnostics *bundle_load_get_diagnostics(const BundleLoad *load) {
        return load->diagnostics;
}

uint64_t bundle_load_get_progress(const BundleLoad *load) {
        return load->n_read + (load->scan ? bundle_scan_get_progress(load->scan) : 0);
}
