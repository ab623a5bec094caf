/* SPDX-License-Identifier: MIT */
#pragma once

/* One skill: instructions in a reviewed file that an agent may read and follow. The text itself stays in the sealed copy
 * and is read, with its digest, each time it is asked for. */

#include <stdint.h>
#include <systemd/sd-bus.h>

#include "common/jwriter.h"
#include "service/plugin.h"
#include "service/skill-matter.h"

typedef struct Skill {
        char *qualified; /* "<plugin>:<name>" */
        char *folded;    /* the name in lower case: unique within an entry of a plugin */
        char *path;      /* of its SKILL.md, relative to the bundle */
        char *sha256;
        uint64_t size;
        SkillMatter *matter;
} Skill;

Skill *skill_free(Skill *skill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Skill, skill_free)

/**
 * skill_read() - the bytes of a reviewed file, read now and compared with the digest that was reviewed
 * @ret_text: a new string with an extra NUL
 *
 * Return: 0; -ESTALE when there is no sealed copy any more; -EBADMSG when the bytes are not the reviewed ones; -EFBIG over
 * SKILL_FILE_BYTES_MAX; another -errno.
 */
int skill_read(const Plugin *plugin, const char *path, const char *sha256, char **ret_text, size_t *ret_size);

/**
 * skill_new() - read and parse one file of a plugin's reviewed inventory
 * @ret_reason: why not, with the path; a new string
 *
 * Return: 0 or a negative errno with the reason.
 */
int skill_new(const Plugin *plugin, const PluginFile *file, Skill **ret, char **ret_reason);

/** skill_write() - all but the instructions as members of an object that is open */
void skill_write(const Skill *skill, JWriter *writer);
