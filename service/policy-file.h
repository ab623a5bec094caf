/* SPDX-License-Identifier: MIT */
#pragma once

/* One file of permissions or settings, from TOML to something that the readers of policy/ understand, with what is wrong with it. */

#include <glib.h>
#include <stddef.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "policy/policy-document.h"

typedef struct PolicyFile {
        char *path;       /* as people know it */
        bool has_secrets; /* nothing of its text is quoted */
        char *json; /* owns what @doc reads */
        TomlLines *lines;
        Jdoc *doc; /* NULL until it was parsed */
        PolicyDocument document;
} PolicyFile;

PolicyFile *policy_file_new(const char *path);
PolicyFile *policy_file_free(PolicyFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PolicyFile, policy_file_free)

/**
 * policy_file_parse() - take the text of the file
 *
 * Return: 0; -EINVAL when it is no TOML, which is then among the mistakes of its document.
 */
int policy_file_parse(PolicyFile *file, const char *text, size_t size);

/** policy_file_root() - the whole document; absent when it could not be parsed */
Jval policy_file_root(const PolicyFile *file);

/** policy_file_forget() - let the text go; what was read from it must not borrow from it. The mistakes stay, by line. */
void policy_file_forget(PolicyFile *file);

/** policy_file_write_mistakes() - [{"line","column","severity":"error"|"warning","text"}...]; a place that is not known is left out */
void policy_file_write_mistakes(const PolicyFile *file, JWriter *writer);
