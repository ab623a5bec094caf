/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "service/bundle-tree.h"
#include "service/node-print.h"

#define COMPARE_NODES  128 /* in one step */
#define CONTENT_DOMAIN "codewhale-extensions-content-v1"

#define BLOCK_NODES_MIN 8
#define BLOCK_NODES_MAX 512
#define PATHS_BYTES     4096 /* at a time */

BundleTree *bundle_tree_new(void) {
        BundleTree *tree = g_new0(BundleTree, 1);

        tree->n_ref = 1;
        tree->nodes = g_ptr_array_new();
        tree->by_path = g_hash_table_new(g_str_hash, g_str_equal);
        tree->blocks = g_ptr_array_new_with_free_func(g_free);
        tree->paths = g_string_chunk_new(PATHS_BYTES);
        return tree;
}

BundleNode *bundle_tree_append(BundleTree *tree, const char *path) {
        size_t size = CLAMP(tree->nodes->len, BLOCK_NODES_MIN, BLOCK_NODES_MAX);
        BundleNode *node;

        if (tree->n_left == 0) {
                g_ptr_array_add(tree->blocks, g_new0(BundleNode, size));
                tree->n_left = size;
        }
        /* From the end of the block to its begin: so one number says all. */
        node = (BundleNode *) g_ptr_array_index(tree->blocks, tree->blocks->len - 1) + --tree->n_left;
        node->path = g_string_chunk_insert(tree->paths, path);
        g_ptr_array_add(tree->nodes, node);
        g_hash_table_insert(tree->by_path, (char *) node->path, node);
        return node;
}

BundleTree *bundle_tree_ref(BundleTree *tree) {
        assert(tree->n_ref > 0);
        tree->n_ref++;
        return tree;
}

BundleTree *bundle_tree_unref(BundleTree *tree) {
        if (!tree || --tree->n_ref > 0)
                return NULL;

        g_hash_table_unref(tree->by_path);
        g_ptr_array_unref(tree->nodes);
        g_ptr_array_unref(tree->blocks);
        g_string_chunk_free(tree->paths);
        g_free(tree);
        return NULL;
}

const BundleNode *bundle_tree_find(const BundleTree *tree, const char *path) {
        return g_hash_table_lookup(tree->by_path, path);
}

char *bundle_tree_hash(const BundleTree *tree, const char *manifest) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, CONTENT_DOMAIN);
        sha256_update_framed(hash, manifest, strlen(manifest));
        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                if (node->ours)
                        continue;
                /* Every path is whole, so the sorted list says the structure too: no marks for the end of a folder. */
                sha256_update_text(hash, node->directory ? "D" : node->executable ? "X" : "F");
                sha256_update_framed(hash, node->path, strlen(node->path));
                if (node->directory)
                        continue;
                sha256_update_u64(hash, node->size);
                sha256_update(hash, node->sha256, SHA256_HEX_CHARS);
        }
        return sha256_finish_hex(hash);
}

/* A fingerprint that was taken too soon after a change proves nothing. */
static bool is_same_node(const BundleNode *node, int root) {
        NodePrint now;

        return !node->fresh && node_print_at(root, node->path, &now) >= 0 && node_print_equal(&now, &node->print);
}

static bool is_same_root(const BundleTree *tree, int root) {
        NodePrint now;

        return !tree->fresh_root && node_print_at(root, "", &now) >= 0 && node_print_equal(&now, &tree->root);
}

bool bundle_tree_has_same_names(const BundleTree *tree, int root) {
        if (!is_same_root(tree, root))
                return false;

        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                if (node->directory && !is_same_node(node, root))
                        return false;
        }
        return true;
}

int bundle_tree_compare(const BundleTree *tree, int root, size_t *at) {
        size_t end = MIN(*at + COMPARE_NODES, tree->nodes->len);

        if (*at == 0 && !is_same_root(tree, root))
                return -ESTALE;

        for (; *at < end; (*at)++)
                if (!is_same_node(g_ptr_array_index(tree->nodes, *at), root))
                        return -ESTALE;
        return *at < tree->nodes->len;
}

bool bundle_tree_is_unchanged(const BundleTree *tree, int root) {
        size_t at = 0;
        int r;

        do
                r = bundle_tree_compare(tree, root, &at);
        while (r > 0);
        return r == 0;
}
