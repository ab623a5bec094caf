/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/bundle.h"
#include "service/staged-copy.h"

#define STAGE_DOMAIN "codewhale-extensions-stage-v1"

struct StagedCopy {
        unsigned n_ref;
        char *path;
        int fd;
        BundleTree *tree;
        LeaseSet *leases;
        bool leased; /* it was tried */
};

char *staged_copy_folder(const char *plugin_id) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, STAGE_DOMAIN);
        sha256_update_text(hash, plugin_id);
        return sha256_finish_hex(hash);
}

StagedCopy *staged_copy_ref(StagedCopy *copy) {
        assert(copy && copy->n_ref > 0);

        copy->n_ref++;
        return copy;
}

StagedCopy *staged_copy_unref(StagedCopy *copy) {
        if (!copy)
                return NULL;

        assert(copy->n_ref > 0);
        if (--copy->n_ref > 0)
                return NULL;

        lease_set_free(copy->leases);
        g_free(copy->path);
        close_fd(&copy->fd);
        bundle_tree_unref(copy->tree);
        g_free(copy);
        return NULL;
}

/* The erased modules are exactly those of the receipt. */
static bool has_erased(const BundleTree *tree, const TrustReceipt *receipt) {
        size_t found = 0;

        for (size_t i = 0; i < tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(tree->nodes, i);

                found += node->ours && !node->directory;
        }
        if (found != receipt->erased->len)
                return false;

        for (size_t i = 0; i < receipt->erased->len; i++) {
                const TrustErased *erased = g_ptr_array_index(receipt->erased, i);
                const BundleNode *node = bundle_tree_find(tree, erased->erased_path);

                if (!node || !node->ours || node->directory || strcmp(node->sha256, erased->erased_sha256) != 0)
                        return false;
        }
        return true;
}

struct StagedLoad {
        StagedCopy *copy, *previous;
        TrustReceipt *receipt;
        Diagnostics *diagnostics;
        BundleScan *scan;
};

StagedLoad *staged_load_free(StagedLoad *load) {
        if (!load)
                return NULL;

        bundle_scan_free(load->scan);
        diagnostics_free(load->diagnostics);
        trust_receipt_free(load->receipt);
        staged_copy_unref(load->previous);
        staged_copy_unref(load->copy);
        g_free(load);
        return NULL;
}

static int open_copy(const CodewhaleHome *home, const char *plugin_id, const TrustReceipt *receipt, StagedCopy **ret) {
        g_autofree char *folder = staged_copy_folder(plugin_id);
        g_autofree char *relative = g_build_filename(folder, receipt->content_hash, NULL);
        _cleanup_close_ int staged = codewhale_home_open(home, HOME_STAGED);
        StagedCopy *copy;
        int fd;

        if (staged < 0)
                return staged;
        fd = safe_open_at(staged, relative, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
                return fd == -ENOENT ? fd : -EBADMSG;

        copy = g_new0(StagedCopy, 1);
        copy->n_ref = 1;
        copy->fd = fd;
        copy->path = g_build_filename(codewhale_home_get_path(home, HOME_STAGED), relative, NULL);
        *ret = copy;
        return 0;
}

int staged_load_new(
                const CodewhaleHome *home, const char *plugin_id, const TrustReceipt *receipt, StagedCopy *previous,
                StagedLoad **ret) {
        StagedCopy *copy = NULL;
        StagedLoad *load;
        int r;

        r = open_copy(home, plugin_id, receipt, &copy);
        if (r < 0)
                return r;

        load = g_new0(StagedLoad, 1);
        load->copy = copy;
        load->previous = previous ? staged_copy_ref(previous) : NULL;
        load->receipt = trust_receipt_copy(receipt);
        load->diagnostics = diagnostics_new();
        load->scan = bundle_scan_new(copy->fd, BUNDLE_SCAN_STAGED, previous ? previous->tree : NULL, load->diagnostics);
        *ret = load;
        return 0;
}

static int finish_load(StagedLoad *load) {
        const TrustReceipt *receipt = load->receipt;
        StagedCopy *copy = load->copy;
        g_autofree char *hash = NULL;
        const char *manifest;

        copy->tree = bundle_scan_steal(load->scan);
        manifest = bundle_find_manifest(copy->tree);
        if (!manifest)
                return -EBADMSG;
        hash = bundle_tree_hash(copy->tree, manifest);
        return strcmp(hash, receipt->content_hash) == 0 && has_erased(copy->tree, receipt) ? 0 : -EBADMSG;
}

int staged_load_step(StagedLoad *load) {
        int r = bundle_scan_step(load->scan);

        return r > 0 ? 1 : r < 0 ? -EBADMSG : finish_load(load);
}

uint64_t staged_load_get_progress(const StagedLoad *load) {
        return bundle_scan_get_progress(load->scan);
}

StagedCopy *staged_load_steal(StagedLoad *load) {
        assert(load->copy->tree);

        return g_steal_pointer(&load->copy);
}

int staged_copy_load(
                const CodewhaleHome *home, const char *plugin_id, const TrustReceipt *receipt, StagedCopy *previous,
                StagedCopy **ret) {
        g_autoptr(StagedLoad) load = NULL;
        int r;

        r = staged_load_new(home, plugin_id, receipt, previous, &load);
        if (r < 0)
                return r;
        do
                r = staged_load_step(load);
        while (r > 0);
        if (r < 0)
                return r;

        *ret = staged_load_steal(load);
        return 0;
}

bool staged_copy_matches(const StagedCopy *copy, const TrustReceipt *receipt) {
        return g_str_has_suffix(copy->path, receipt->content_hash) && has_erased(copy->tree, receipt);
}

bool staged_copy_is_unchanged(const StagedCopy *copy) {
        if (copy->leases && lease_set_holds(copy->leases))
                return bundle_tree_has_same_names(copy->tree, copy->fd);
        return bundle_tree_is_unchanged(copy->tree, copy->fd);
}

void staged_copy_lease(StagedCopy *copy, LeaseTable *table) {
        g_autoptr(LeaseSet) leases = NULL;

        if (copy->leased || copy->tree->n_files < LEASED_FILES_MIN)
                return;

        copy->leased = true;
        if (lease_set_new(table, copy->tree, copy->fd, &leases) < 0)
                return;
        /* Between the hashing and the leases somebody may have written. */
        if (bundle_tree_is_unchanged(copy->tree, copy->fd))
                copy->leases = g_steal_pointer(&leases);
}

const char *staged_copy_get_path(const StagedCopy *copy) {
        return copy->path;
}

int staged_copy_get_fd(const StagedCopy *copy) {
        return copy->fd;
}

const BundleTree *staged_copy_get_tree(const StagedCopy *copy) {
        return copy->tree;
}

bool staged_copy_is_held(const StagedCopy *copy) {
        return copy->n_ref > 1;
}
