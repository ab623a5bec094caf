/* SPDX-License-Identifier: MIT */
#pragma once

/* What a workspace says about itself, in `.codewhale/law.toml`: paths that are protected and tools that are
 * not wanted (contract 5.7, layer 7). It comes with the project, so it is a stranger's word: it can only
 * tighten. A question becomes a block under Full Access. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "policy/command.h"
#include "policy/trace.h"

typedef struct RepositoryLaw RepositoryLaw;

RepositoryLaw *repository_law_new(void);
RepositoryLaw *repository_law_free(RepositoryLaw *law);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RepositoryLaw, repository_law_free)

/**
 * repository_law_load() - read the file's content, already turned into JSON
 * @document: {"protect":[{"path":"deploy","outcome":"ask"|"block","why":"..."}...],
 *             "tools":[{"tool":"web_*","outcome":"ask"|"block","why":"..."}...]}
 *
 * There is no "allow". Return: 0; -EINVAL, -ENOBUFS with words in @reterr, and nothing added.
 */
int repository_law_load(RepositoryLaw *law, Jval document, sd_bus_error *reterr);

/** repository_law_set_unreadable() - the file is there but can't be read: every change in this workspace
 * asks */
void repository_law_set_unreadable(RepositoryLaw *law);

typedef struct LawSubject {
        const char *policy_name;
        const char *workspace;
        Jval arguments;
        const Command *command; /* NULL when it is no shell call */
        bool reads_only;        /* protection is about changes */
} LawSubject;

typedef struct LawFinding {
        Verdict verdict;   /* VERDICT_ALLOW when nothing applies, VERDICT_ASK, VERDICT_DENY */
        const char *entry; /* the pattern; borrowed from the law */
        const char *why;   /* borrowed, may be NULL */
} LawFinding;

/** repository_law_find() - the strictest entry that applies */
LawFinding repository_law_find(const RepositoryLaw *law, const LawSubject *subject);
