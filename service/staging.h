/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes sealed copies and sweeps those that nobody needs (contract 2.7). */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

#include "service/bundle.h"
#include "service/codewhale-home.h"
#include "service/plugin-progress.h"
#include "storage/trust-state.h"

/* A type-erased module to put into the copy beside the bundle's own files */
typedef struct StagingErased {
        const char *path; /* of the .mts in the bundle */
        const char *text;
        size_t size;
} StagingErased;

/** staging_note_erased() - write into @receipt where the copy will hold these modules, and their digests */
void staging_note_erased(TrustReceipt *receipt, const StagingErased *erased, size_t n_erased);

/**
 * staging_make() - make the sealed copy for @receipt, on the disk when it returns
 * @source:  descriptor of the bundle's directory
 * @bundle:  what was reviewed there; every byte is compared with it while it is copied
 * @erased:  modules to add, as they were noted in @receipt
 * @progress: NULL, or where the bytes that were written are counted
 *
 * A copy of that name that was there before is replaced in one step. Return: 0; ERROR_CONTENT_CHANGED when the source
 * moved on; ERROR_IO.
 */
int staging_make(
                const CodewhaleHome *home, const char *plugin_id, int source, const Bundle *bundle,
                const StagingErased *erased, size_t n_erased, const TrustReceipt *receipt, PluginProgress *progress,
                sd_bus_error *reterr);

/**
 * staging_sweep() - remove what interrupted work left, and copies that nobody needs
 * @is_needed: asked for each copy: the plugin's folder (staged_copy_folder()) and the copy's content hash
 */
void staging_sweep(
                const CodewhaleHome *home, bool (*is_needed)(const char *folder, const char *content_hash, void *userdata),
                void *userdata);

/** staging_has_unneeded() - whether staging_sweep() would remove anything */
bool staging_has_unneeded(
                const CodewhaleHome *home, bool (*is_needed)(const char *folder, const char *content_hash, void *userdata),
                void *userdata);
