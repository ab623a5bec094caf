/* SPDX-License-Identifier: MIT */
#pragma once

/* Whether the skill packages of a bundle can be used (contract 1.1.1, 4.5.1): only what can be seen without reading YAML. */

#include "service/bundle-tree.h"
#include "service/diagnostic.h"
#include "service/manifest.h"

/**
 * bundle_skill_check() - look at each SKILL.md of the declared skills, at most SKILL_CANDIDATES_MAX
 * @root: descriptor of the bundle's directory
 *
 * Findings are warnings of @diagnostics.
 */
void bundle_skill_check(const Manifest *manifest, const BundleTree *tree, int root, Diagnostics *diagnostics);
