/* SPDX-License-Identifier: MIT */
#pragma once

/* Everything that files say about permission, put together from `permissions.toml` of the administrator and
 * of the user and from what a project wishes. Reading a file is the service's; here come documents, already
 * turned into JSON.
 *
 *     [policy]        posture = "ask"                          (of the administrator: the loosest there is)
 *     [[rule]]        outcome = "ask", tool = "...", ...      (rules.h)
 *     [commands]      deny = ["rm -rf"], trust = ["git status"]
 *     [tools]         allow = ["..."], deny = ["..."]         (admission.h)
 *     [auto_review]   block = ["..."], allow = ["..."]        (auto-review.h)
 *
 * A set is built anew at every reload: load all files into a new one, and keep the old one when any of them
 * fails. */

#include <glib.h>
#include <stdbool.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "policy/admission.h"
#include "policy/auto-review.h"
#include "policy/policy-document.h"
#include "policy/posture.h"
#include "policy/rules.h"

typedef struct PolicySet {
        RuleSet *rules;
        AutoReview *review;
        Admission *admission;
        bool has_posture; /* [policy] posture of the administrator */
        Posture posture;
        char *posture_at;
} PolicySet;

PolicySet *policy_set_new(void);
PolicySet *policy_set_free(PolicySet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PolicySet, policy_set_free)

/**
 * policy_set_load() - add one `permissions.toml`
 * @source:   RULE_ADMIN or RULE_USER; lists of allowed tools of both must admit a tool
 * @document: takes all that is wrong with it
 *
 * Return: 0; -EINVAL or -ENOBUFS; then the set is good for nothing but freeing.
 */
int policy_set_load(PolicySet *set, RuleSource source, Jval root, PolicyDocument *document);

/** policy_set_write() - all of it, as members of an object that is begun; for people who want to see what is in force */
void policy_set_write(const PolicySet *set, JWriter *writer);

/* What `.codewhale/config.toml` of a workspace may say about permission. It comes with the project, so it
 * only tightens. */
typedef struct ProjectWish {
        bool has_posture;
        Posture posture;
        char *posture_at;
        Admission *denied; /* NULL when it denies nothing */
} ProjectWish;

void project_wish_done(ProjectWish *wish);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProjectWish, project_wish_done)

/**
 * project_wish_load() - read {"policy":{"posture":"ask"},"tools":{"deny":["..."]}}; other tables are not
 * ours to judge
 *
 * A list of allowed tools or a rule in there is an error and not just ignored: its author believes in it.
 * Return: 0; -EINVAL or -ENOBUFS with words in @document.
 */
int project_wish_load(Jval root, ProjectWish *ret, PolicyDocument *document);
