/* SPDX-License-Identifier: MIT */
#pragma once

/* The keys that say what exactly was approved or denied (contract 5.4.1). A key names the full subject:
 * plugin, build, tool and arguments. Other bytes, another plugin or other arguments make another key. */

#include <glib.h>
#include <stdbool.h>

#include "common/jdoc.h"

/* Which build of which plugin. The last three are given together or not at all: they narrow to one selected
 * entry. */
typedef struct BuildScope {
        const char *plugin;       /* plugin id */
        const char *content_hash; /* of the reviewed bytes */
        const char *entry;        /* NULL or the entry's path */
        const char *selection;
        const char *boot;
} BuildScope;

typedef struct ApprovalSubject {
        const char *tool;              /* as registered; for core tools the policy name (tool-name.h) */
        const BuildScope *build;       /* of the extension that owns the tool; NULL for a core tool */
        const BuildScope *called_from; /* a nested call: the extension that makes it; else NULL */
} ApprovalSubject;

typedef struct ApprovalKeys {
        char *exact;    /* names these arguments; denials are kept under it */
        char *grouping; /* what a session grant for "this" covers */
        char *any;      /* any arguments of this tool; NULL where no such grant may be given */
        bool extension_origin;
} ApprovalKeys;

void approval_keys_done(ApprovalKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ApprovalKeys, approval_keys_done)

/**
 * approval_keys_make() - the keys of one call
 * @arguments: the final arguments, an object; the order of their members does not matter
 *
 * Return: 0; -EINVAL when the subject lacks a part.
 */
int approval_keys_make(const ApprovalSubject *subject, Jval arguments, ApprovalKeys *ret);

/**
 * arguments_hash() - the SHA-256 of the canonical arguments in hex; a new string
 *
 * All of it, where contract 5.4.1 takes the first 64 bits: an extension writes both what it gets a grant for and what it calls
 * later, and for two that agree in 64 bits it has to try no more than four thousand million, at home and before it is installed.
 */
char *arguments_hash(Jval arguments);
