/* SPDX-License-Identifier: MIT */
#pragma once

/* The answer of Plugins.Validate: what is wrong with a folder, whether it can be previewed or not. */

#include "service/service.h"

/**
 * bundle_validation_run() - look at a folder as if it were installed
 * @path: absolute
 * @ret:  a JSON object {valid, name, version, content_hash, diagnostics}; a new string
 *
 * A folder that holds no usable bundle is an answer, no error. Return: 0, or why nothing could be looked at.
 */
int bundle_validation_run(PluginSet *plugins, const char *path, char **ret, sd_bus_error *reterr);
