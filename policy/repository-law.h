/* SPDX-License-Identifier: MIT */
#pragma once

/* What a workspace says about itself, in `.codewhale/law.toml`: paths that are protected and tools that are
 * not wanted (contract 5.7, layer 7). It comes with the project, so it is a stranger's word: it can only
 * tighten. A question becomes a block under Full Access. */

#include <glib.h>
#include <stdbool.h>

#include "common/jwriter.h"
#include "policy/command.h"
#include "policy/policy-document.h"
#include "policy/trace.h"

typedef struct RepositoryLaw RepositoryLaw;

RepositoryLaw *repository_law_new(void);
RepositoryLaw *repository_law_free(RepositoryLaw *law);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RepositoryLaw, repository_law_free)

/**
 * repository_law_load() - read the file's content, already turned into JSON
 * @root: {"protect":[{"path":"deploy","outcome":"ask"|"block","why":"..."}...],
 *             "tools":[{"tool":"web_*","outcome":"ask"|"block","why":"..."}...]}
 *
 * There is no "allow". Return: 0; -EINVAL, -ENOBUFS with words in @document, and nothing added.
 */
int repository_law_load(RepositoryLaw *law, Jval root, PolicyDocument *document);

/** repository_law_write() - "protect":[{"path","outcome","why","at"}...],"tools":[...] as members of an object that is begun */
void repository_law_write(const RepositoryLaw *law, JWriter *writer);

/**
 * repository_law_set_unreadable() - something of it is there and can't be read: whatever is not proven to only read asks
 * @why: a sentence that says what and where
 */
void repository_law_set_unreadable(RepositoryLaw *law, const char *why);

typedef struct LawSubject {
        const char *policy_name;
        const char *workspace;
        Jval arguments;
        const Command *command; /* NULL when it is no shell call */
        bool reads_only;        /* protection is about changes */
        bool extension;         /* a plugin's own tool: its arguments are no paths of the workspace that we know of */
} LawSubject;

typedef struct LawFinding {
        Verdict verdict;   /* VERDICT_ALLOW when nothing applies, VERDICT_ASK, VERDICT_DENY */
        const char *entry; /* the pattern; borrowed from the law */
        const char *why;   /* borrowed, may be NULL */
        const char *at;    /* the place in its file, borrowed, may be NULL */
} LawFinding;

/** repository_law_find() - the strictest entry that applies */
LawFinding repository_law_find(const RepositoryLaw *law, const LawSubject *subject);
