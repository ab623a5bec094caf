/* SPDX-License-Identifier: MIT */
#pragma once

/* Holds what a manifest declares against the files that are there (contract 1.5.3, 1.6, 1.8). */

#include <stdbool.h>

#include "service/bundle-tree.h"
#include "service/diagnostic.h"
#include "service/manifest.h"

/**
 * bundle_component_check() - every declared path, and the rules between manifest and mcp.json
 *
 * Adds folders that count without being declared: `skills`, and `commands` and `agents` of a Claude bundle. Findings become diagnostics.
 */
void bundle_component_check(Manifest *manifest, const BundleTree *tree, bool extension_host, Diagnostics *diagnostics);
