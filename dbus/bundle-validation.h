/* SPDX-License-Identifier: MIT */
#pragma once

/* The answer of Plugins.Validate: what is wrong with a folder, whether it can be previewed or not. */

#include <systemd/sd-bus.h>

/**
 * bundle_validation_make() - out of how a preview ended
 * @path:   what was looked at
 * @r:      how it ended, with @error when negative and the review document @review else
 * @ret:    a JSON object {valid, name, version, content_hash, diagnostics}; a new string
 *
 * A folder that holds no usable bundle is an answer, no error. Return: 0, or why nothing could be looked at.
 */
int bundle_validation_make(
                const char *path, int r, const sd_bus_error *error, const char *review, char **ret, sd_bus_error *reterr);
