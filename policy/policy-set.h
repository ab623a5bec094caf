/* SPDX-License-Identifier: MIT */
#pragma once

/* Everything that files say about permission, put together from `permissions.toml` of the administrator and
 * of the user and from what a project wishes. Reading a file is the service's; here come documents, already
 * turned into JSON.
 *
 *     [[rule]]        outcome = "ask", tool = "...", ...      (rules.h)
 *     [commands]      deny = ["rm -rf"], trust = ["git status"]
 *     [tools]         allow = ["..."], deny = ["..."]         (admission.h)
 *     [auto_review]   block = ["..."], allow = ["..."]        (auto-review.h)
 *
 * A set is built anew at every reload: load all files into a new one, and keep the old one when any of them
 * fails. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "common/jdoc.h"
#include "policy/admission.h"
#include "policy/auto-review.h"
#include "policy/posture.h"
#include "policy/rules.h"

typedef struct PolicySet {
        RuleSet *rules;
        AutoReview *review;
        Admission *admission;
} PolicySet;

PolicySet *policy_set_new(void);
PolicySet *policy_set_free(PolicySet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PolicySet, policy_set_free)

/**
 * policy_set_load() - add one `permissions.toml`
 * @source: RULE_ADMIN or RULE_USER; lists of allowed tools of both must admit a tool
 *
 * Return: 0; -EINVAL or -ENOBUFS with the place and the mistake in @reterr; then the set is good for nothing
 * but freeing.
 */
int policy_set_load(PolicySet *set, RuleSource source, Jval document, sd_bus_error *reterr);

/* What `.codewhale/config.toml` of a workspace may say about permission. It comes with the project, so it
 * only tightens. */
typedef struct ProjectWish {
        bool has_posture;
        Posture posture;
        GPtrArray *denied_tools; /* char * */
} ProjectWish;

void project_wish_done(ProjectWish *wish);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ProjectWish, project_wish_done)

/**
 * project_wish_load() - read {"policy":{"posture":"ask"},"tools":{"deny":["..."]}}; other tables are not
 * ours to judge
 *
 * A list of allowed tools or a rule in there is an error and not just ignored: its author believes in it.
 * Return: 0; -EINVAL or -ENOBUFS with words in @reterr.
 */
int project_wish_load(Jval document, ProjectWish *ret, sd_bus_error *reterr);

/**
 * policy_file_line() - the line of a TOML text that an error of policy_set_load() is about
 * @message: the error's text; one that begins with "rule 3:" leads to the third [[rule]]
 *
 * Return: the line from 1, 0 when the message names no rule or the text has no such table.
 */
unsigned policy_file_line(const char *toml, const char *message);
