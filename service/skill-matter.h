/* SPDX-License-Identifier: MIT */
#pragma once

/* One SKILL.md: the front matter between two lines of three dashes, and the instructions behind it (contract 4.5.1). The
 * matter is YAML 1.2; none of its keys grants anything. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct SkillMatter {
        char *name;          /* a letter or digit, then letters, digits, '_', '-' */
        char *description;   /* not blank */
        char *argument_hint; /* NULL without one */
        char *when_to_use;   /* NULL without one */
        char **aliases_for;  /* NULL without any */
        char **languages;    /* tags of localized descriptions; NULL without any */
        char **localized;    /* the descriptions, in the order of @languages */
        char **warnings;     /* sentences about keys that have no effect here; NULL without any */
        bool model;          /* a model may choose it */
        bool user;           /* a person may choose it */
        size_t body;         /* where the instructions begin */
        size_t kept;         /* bytes that count against the retained limits: instructions and texts */
} SkillMatter;

SkillMatter *skill_matter_free(SkillMatter *matter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SkillMatter, skill_matter_free)

/**
 * skill_matter_parse() - read the whole text of a SKILL.md
 * @size:       at most SKILL_FILE_BYTES_MAX, the matter at most SKILL_MATTER_BYTES_MAX
 * @ret_reason: why not, for its author; a new string
 *
 * Return: 0; -EBADMSG with the reason.
 */
int skill_matter_parse(const char *text, size_t size, SkillMatter **ret, char **ret_reason);
