/* SPDX-License-Identifier: MIT */
#pragma once

/* What a Claude bundle may hold beside its manifest that we do not do (contract 9.4): it refuses the whole bundle. */

#include "service/bundle-tree.h"
#include "service/diagnostic.h"
#include "service/manifest.h"

/**
 * bundle_claude_check() - look for hooks, language servers and ${CLAUDE_PLUGIN_ROOT}
 * @root: descriptor of the bundle's directory
 *
 * Only for manifests of that format. Findings become diagnostics.
 */
void bundle_claude_check(const Manifest *manifest, const BundleTree *tree, int root, Diagnostics *diagnostics);
