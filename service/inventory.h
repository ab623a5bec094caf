/* SPDX-License-Identifier: MIT */
#pragma once

/* What a bundle asks for, counted (contract 1.11), and what this build does with it (1.12). */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jwriter.h"
#include "service/bundle-tree.h"
#include "service/manifest.h"

typedef enum Capability {
        CAPABILITY_SKILLS,
        CAPABILITY_MCP_STDIO,
        CAPABILITY_MCP_REMOTE,
        CAPABILITY_COMMANDS,
        CAPABILITY_AGENTS,
        CAPABILITY_HOOKS,
        CAPABILITY_LSP,
        CAPABILITY_NATIVE,
        CAPABILITY_FILESYSTEM_ROOTS,
        CAPABILITY_LIFECYCLE_MUTATION,
        _CAPABILITY_MAX,
        _CAPABILITY_INVALID = -EINVAL,
} Capability;
const char *capability_to_string(Capability capability);

/** capability_in_words() - what it lets a bundle do, one sentence for the review */
const char *capability_in_words(Capability capability);

/** capability_is_supported() - whether this build acts on it; @extension_host is the feature flag */
bool capability_is_supported(Capability capability, bool extension_host);

/** capability_policy_version() - the number of the activation policy (1.12) */
unsigned capability_policy_version(bool extension_host);

typedef struct Inventory {
        size_t components[_COMPONENT_KIND_MAX]; /* packages, files or entries of each kind */
        size_t mcp_stdio, mcp_remote;
        char **filesystem_roots, **network_hosts; /* borrowed from the manifest; may be NULL */
        bool lifecycle_mutation;
        unsigned declared; /* one bit a Capability */
} Inventory;

/** inventory_take() - count what @manifest declares and @tree holds; @ret borrows from @manifest */
void inventory_take(const Manifest *manifest, const BundleTree *tree, Inventory *ret);

/** inventory_is_skill() - whether the file @path is the SKILL.md of a package in one of the declared skills folders */
bool inventory_is_skill(const Manifest *manifest, const char *path);

bool inventory_has(const Inventory *inventory, Capability capability);

/** inventory_names() - the declared capabilities' names in the order of the enum; a new array */
char **inventory_names(const Inventory *inventory);

/** inventory_count_supported() - how many declared capabilities this build acts on, and how many there are */
size_t inventory_count_supported(const Inventory *inventory, bool extension_host, size_t *ret_declared);

/** inventory_hash() - the capability hash (2.2) with a domain string of ours: policy and inventory; 64 hex, a new string */
char *inventory_hash(const Inventory *inventory, bool extension_host);

/** inventory_write() - as a JSON object of counts and lists */
void inventory_write(const Inventory *inventory, JWriter *writer);
