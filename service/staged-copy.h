/* SPDX-License-Identifier: MIT */
#pragma once

/* The sealed copy of a bundle: read-only, named by the content hash, made when a person trusted those bytes (contract
 * 2.7). Everything that runs or is shown to an agent is read from here, never from where the author works. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/bundle-tree.h"
#include "service/codewhale-home.h"
#include "service/lease-table.h"
#include "storage/trust-state.h"

typedef struct StagedCopy StagedCopy;

/** staged_copy_folder() - the name below HOME_STAGED that belongs to a plugin; a new string */
char *staged_copy_folder(const char *plugin_id);

/* Opening a copy and hashing it, in steps */
typedef struct StagedLoad StagedLoad;

/**
 * staged_load_new() - begin with the copy that a receipt names
 * @previous: NULL, or an earlier load of the same copy, to read only what was touched; kept as long as the load
 *
 * Return: 0; -ENOENT when there is none; another -errno.
 */
int staged_load_new(
                const CodewhaleHome *home, const char *plugin_id, const TrustReceipt *receipt, StagedCopy *previous,
                StagedLoad **ret);
StagedLoad *staged_load_free(StagedLoad *load);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StagedLoad, staged_load_free)

/**
 * staged_load_step() - one piece of the work
 *
 * Return: 1 when there is more to do; 0 when the copy is what was reviewed, down to the type-erased modules; -EBADMSG
 * when it is not.
 */
int staged_load_step(StagedLoad *load);

/** staged_load_get_progress() - bytes read so far */
uint64_t staged_load_get_progress(const StagedLoad *load);

/** staged_load_steal() - the copy, after 0 */
StagedCopy *staged_load_steal(StagedLoad *load);

/** staged_copy_load() - all of that at once */
int staged_copy_load(
                const CodewhaleHome *home, const char *plugin_id, const TrustReceipt *receipt, StagedCopy *previous,
                StagedCopy **ret);

StagedCopy *staged_copy_ref(StagedCopy *copy);
StagedCopy *staged_copy_unref(StagedCopy *copy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StagedCopy, staged_copy_unref)

/** staged_copy_matches() - whether it is the copy that @receipt speaks of, type-erased modules included */
bool staged_copy_matches(const StagedCopy *copy, const TrustReceipt *receipt);

/**
 * staged_copy_lease() - make staged_copy_is_unchanged() cheaper, where that is worth it and possible
 *
 * For a copy that was just found unchanged; does nothing the second time.
 */
void staged_copy_lease(StagedCopy *copy, LeaseTable *table);

/** staged_copy_is_unchanged() - whether it still carries the fingerprints of when it was hashed */
bool staged_copy_is_unchanged(const StagedCopy *copy);

const char *staged_copy_get_path(const StagedCopy *copy); /* absolute */
int staged_copy_get_fd(const StagedCopy *copy);           /* of the directory; borrowed */
const BundleTree *staged_copy_get_tree(const StagedCopy *copy);

/** staged_copy_is_held() - whether somebody beside the one who asks has a reference */
bool staged_copy_is_held(const StagedCopy *copy);
