/* SPDX-License-Identifier: MIT */
#pragma once

/* Unpacks a tar archive that a stranger made into an empty folder: plain files and directories beneath it, and nothing
 * else (contract 2.9). */

#include <stddef.h>
#include <systemd/sd-bus.h>

/**
 * install_archive_unpack() - unpack
 * @archive: descriptor of the archive: tar, plain or compressed by gzip, bzip2, xz or zstd
 * @target:  descriptor of the empty directory
 *
 * Return: 0; ERROR_PATH_TRAVERSAL, ERROR_LINK_FOUND; ERROR_INVALID_BUNDLE for a device, an unusable path, the same path twice, no archive;
 * ERROR_TOO_LARGE for more than INSTALL_BYTES_MAX unpacked or BUNDLE_FILES_MAX entries; ERROR_IO. On failure @target is
 * half full.
 */
int install_archive_unpack(int archive, int target, sd_bus_error *reterr);
