/* SPDX-License-Identifier: MIT */
#pragma once

/* Puts bundles into a folder of bundles and takes them out again (contract 2.9). Knows nothing of trust: what it places is
 * new to everybody. Each step that others can see is one rename(), so an install or uninstall that is killed at any point
 * has happened or has not. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/bundle.h"

#define INSTALLER_STAGING_PREFIX ".staging-"
#define INSTALLER_GONE_PREFIX    ".staging-gone-" /* followed by the folder's former name */

/* A bundle that could be installed: where it is and what it is */
typedef struct InstallSource {
        char *text; /* the source in a form that parses back to it */
        char *root; /* of the bundle */
        int root_fd;
        Bundle *bundle;
        char *unpacked; /* the folder that an archive was unpacked into; NULL for a directory */
        char *sha256;   /* of the archive; NULL for a directory */
} InstallSource;

InstallSource *install_source_free(InstallSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(InstallSource, install_source_free)

#define INSTALL_UNPACKED_PREFIX ".unpacked-"

#define INSTALL_FETCHED_PREFIX  ".fetched-"

typedef struct InstallSourceOptions {
        const char *scratch;  /* CODEWHALE_HOME: an archive is unpacked below it, until the source is freed */
        bool extension_host;
        const char *fetched;  /* NULL, or the file that was fetched from a source elsewhere */
        void (*progress)(uint64_t done, uint64_t total, void *userdata); /* NULL, or told how many bytes were read */
        void *userdata;
} InstallSourceOptions;

/**
 * install_source_open() - look at a source: find its one bundle and load it
 * @text: "path:<absolute path>" or an absolute path: of a directory, or of a tar archive; or where @fetched came from
 *
 * Return: 0; ERROR_NO_BUNDLE; ERROR_SEVERAL_BUNDLES; ERROR_LINK_FOUND or ERROR_PATH_TRAVERSAL for an archive with such
 * things in it; ERROR_INVALID_BUNDLE for other odd things; ERROR_TOO_LARGE; ERROR_INVALID_MANIFEST;
 * ERROR_INVALID_ARGUMENTS when there is nothing to open; ERROR_NOT_SUPPORTED for another form.
 */
int install_source_open(
                const char *text, const InstallSourceOptions *options, InstallSource **ret, sd_bus_error *reterr);

/** install_source_sweep() - remove what interrupted installs and downloads left below @scratch */
void install_source_sweep(const char *scratch);

/**
 * installer_place() - copy it to @plugins/<name>
 * @plugins:       descriptor of the folder of bundles
 * @expected_hash: NULL, or what its content hash must be
 *
 * Return: 0; ERROR_INVALID_BUNDLE when it has errors; ERROR_TOO_LARGE; ERROR_CONTENT_CHANGED; ERROR_ALREADY_INSTALLED when
 * something of that name is there; ERROR_IO.
 */
int installer_place(int plugins, const InstallSource *source, const char *expected_hash, sd_bus_error *reterr);

/**
 * installer_replace() - put other bytes in the place of an installed bundle, in one step
 * @folder: of the bundle in @plugins; it must carry our marker and keep its name
 *
 * Return: 1 when it was replaced; 0 when the bytes are those that are there already; errors as for installer_place(), and
 * ERROR_NOT_INSTALLED_BY_US.
 */
int installer_replace(
                int plugins, const char *folder, const InstallSource *source, const char *expected_hash,
                sd_bus_error *reterr);

/**
 * installer_remove() - take the bundle in the folder @name away, in one step
 *
 * It lies under INSTALLER_GONE_PREFIX until installer_sweep(). Return: 0; ERROR_NOT_INSTALLED_BY_US without a marker;
 * ERROR_IO.
 */
int installer_remove(int plugins, const char *name, sd_bus_error *reterr);

/**
 * installer_sweep() - remove what interrupted work left in the folder of bundles
 * @on_gone: NULL, or told of each bundle that was taken away: its folder's former name and what it called itself,
 *           before its last trace goes
 */
void installer_sweep(
                int plugins, void (*on_gone)(const char *folder, const char *name, void *userdata), void *userdata);
