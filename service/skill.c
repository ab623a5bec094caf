/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/skill.h"

Skill *skill_free(Skill *skill) {
        if (!skill)
                return NULL;

        g_free(skill->qualified);
        g_free(skill->folded);
        g_free(skill->path);
        g_free(skill->sha256);
        skill_matter_free(skill->matter);
        g_free(skill);
        return NULL;
}

int skill_read(const Plugin *plugin, const char *path, const char *sha256, char **ret_text, size_t *ret_size) {
        StagedCopy *copy = plugin_get_staged((Plugin *) plugin);
        g_autofree char *text = NULL, *digest = NULL;
        size_t size;
        int r;

        if (!copy)
                return -ESTALE;
        r = safe_read_at(staged_copy_get_fd(copy), path, SKILL_FILE_BYTES_MAX, &text, &size);
        if (r < 0)
                return r;
        digest = sha256_hex(text, size);
        if (strcmp(digest, sha256) != 0)
                return -EBADMSG;

        *ret_text = g_steal_pointer(&text);
        *ret_size = size;
        return 0;
}

static const char *read_problem(int r) {
        switch (r) {
        case -ESTALE:
                return "there is no sealed copy of the bundle";
        case -EBADMSG:
                return "its bytes are not the reviewed ones";
        case -EFBIG:
                return "it is larger than 1 MiB";
        default:
                return g_strerror(-r);
        }
}

int skill_new(const Plugin *plugin, const PluginFile *file, Skill **ret, char **ret_reason) {
        g_autoptr(Skill) skill = g_new0(Skill, 1);
        g_autofree char *text = NULL, *reason = NULL;
        size_t size;
        int r;

        r = skill_read(plugin, file->path, file->sha256, &text, &size);
        if (r < 0) {
                *ret_reason = g_strdup_printf("%s can't be read: %s", file->path, read_problem(r));
                return r;
        }
        r = skill_matter_parse(text, size, &skill->matter, &reason);
        if (r < 0) {
                *ret_reason = g_strdup_printf("%s is no skill: %s", file->path, reason);
                return r;
        }

        skill->qualified = g_strdup_printf("%s:%s", plugin_get_name(plugin), skill->matter->name);
        skill->folded = g_ascii_strdown(skill->matter->name, -1);
        skill->path = g_strdup(file->path);
        skill->sha256 = g_strdup(file->sha256);
        skill->size = size;
        *ret = g_steal_pointer(&skill);
        return 0;
}

static void write_list(JWriter *writer, const char *key, char **list) {
        jwriter_key(writer, key);
        jwriter_begin_array(writer);
        for (size_t i = 0; list && list[i]; i++)
                jwriter_string(writer, list[i]);
        jwriter_end_array(writer);
}

void skill_write(const Skill *skill, JWriter *writer) {
        const SkillMatter *matter = skill->matter;

        jwriter_member_string(writer, "name", skill->qualified);
        jwriter_member_string(writer, "description", matter->description);
        jwriter_member_boolean(writer, "model", matter->model);
        jwriter_member_boolean(writer, "user", matter->user);
        if (matter->argument_hint)
                jwriter_member_string(writer, "argument_hint", matter->argument_hint);
        if (matter->when_to_use)
                jwriter_member_string(writer, "when_to_use", matter->when_to_use);
        write_list(writer, "aliases_for", matter->aliases_for);
        jwriter_key(writer, "descriptions");
        jwriter_begin_object(writer);
        for (size_t i = 0; matter->languages && matter->languages[i]; i++)
                jwriter_member_string(writer, matter->languages[i], matter->localized[i]);
        jwriter_end_object(writer);
        write_list(writer, "warnings", matter->warnings);
        jwriter_member_string(writer, "path", skill->path);
        jwriter_member_string(writer, "sha256", skill->sha256);
        jwriter_member_uint(writer, "size", skill->size);
}
