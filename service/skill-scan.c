/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/limits.h"
#include "service/skill-scan.h"

#define SKILL_FILE "SKILL.md"

struct SkillScan {
        Plugin *plugin;
        char *prefix;       /* of the root, with its slash */
        bool seen;          /* something lies below the root */
        bool in_root;       /* the root is a package itself */
        bool declared;      /* by the manifest: what is no skill is passed over */
        GPtrArray *paths;   /* of SKILL.md files, before nested ones are taken out */
        size_t next;
        uint64_t bytes;
        GPtrArray *skills;
};

static void release_skill(void *skill) {
        skill_free(skill);
}

SkillScan *skill_scan_free(SkillScan *scan) {
        if (!scan)
                return NULL;

        plugin_unref(scan->plugin);
        g_free(scan->prefix);
        g_clear_pointer(&scan->paths, g_ptr_array_unref);
        g_clear_pointer(&scan->skills, g_ptr_array_unref);
        g_free(scan);
        return NULL;
}

static bool is_hidden(const char *relative) {
        return relative[0] == '.' || strstr(relative, "/.") != NULL;
}

static int on_file(const PluginFile *file, void *userdata) {
        SkillScan *scan = userdata;
        const char *relative, *name;

        if (!g_str_has_prefix(file->path, scan->prefix))
                return 0;
        scan->seen = true;
        relative = file->path + strlen(scan->prefix);
        name = strrchr(relative, '/');
        if (strcmp(name ? name + 1 : relative, SKILL_FILE) != 0 || is_hidden(relative))
                return 0;
        if (!name)
                scan->in_root = true;
        else
                g_ptr_array_add(scan->paths, g_strdup(file->path));
        return 0;
}

/* Whether a folder above the package at @path, and below the root, is a package too. */
static bool is_nested(const SkillScan *scan, const char *path, GHashTable *packages) {
        g_autofree char *folder = g_path_get_dirname(path);
        size_t root = strlen(scan->prefix);
        char *slash;

        while ((slash = strrchr(folder, '/')) && (size_t) (slash - folder) >= root) {
                *slash = '\0';
                if (g_hash_table_contains(packages, folder))
                        return true;
        }
        return false;
}

static void drop_nested(SkillScan *scan) {
        g_autoptr(GHashTable) packages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(g_free);

        for (size_t i = 0; i < scan->paths->len; i++)
                g_hash_table_add(packages, g_path_get_dirname(g_ptr_array_index(scan->paths, i)));
        for (size_t i = 0; i < scan->paths->len; i++)
                if (!is_nested(scan, g_ptr_array_index(scan->paths, i), packages))
                        g_ptr_array_add(kept, g_strdup(g_ptr_array_index(scan->paths, i)));
        g_ptr_array_unref(scan->paths);
        scan->paths = g_steal_pointer(&kept);
}

static int scan_check(const SkillScan *scan, const char *root, char **ret_reason) {
        if (!scan->seen)
                *ret_reason = g_strdup_printf("the reviewed bundle has no folder '%s'", root);
        else if (scan->in_root)
                *ret_reason = g_strdup_printf("'%s/" SKILL_FILE "' lies in the root itself; each skill needs a folder of its own below it",
                                              root);
        else if (scan->paths->len == 0)
                *ret_reason = g_strdup_printf("there is no skill below '%s'", root);
        else if (scan->paths->len > SKILL_CANDIDATES_MAX)
                *ret_reason = g_strdup_printf("there are %u skills below '%s'; one root may have %u", scan->paths->len, root,
                                              SKILL_CANDIDATES_MAX);
        else
                return 0;
        return -EBADMSG;
}

int skill_scan_new(Plugin *plugin, const char *root, SkillScan **ret, char **ret_reason) {
        g_autoptr(SkillScan) scan = g_new0(SkillScan, 1);
        int r;

        scan->plugin = plugin_ref(plugin);
        scan->prefix = g_strconcat(root, "/", NULL);
        scan->paths = g_ptr_array_new_with_free_func(g_free);
        scan->skills = g_ptr_array_new_with_free_func(release_skill);
        (void) plugin_foreach_file(plugin, on_file, scan);
        drop_nested(scan);
        r = scan_check(scan, root, ret_reason);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&scan);
        return 0;
}

static int on_declared_file(const PluginFile *file, void *userdata) {
        SkillScan *scan = userdata;

        if (plugin_declares_skill(scan->plugin, file->path))
                g_ptr_array_add(scan->paths, g_strdup(file->path));
        return 0;
}

int skill_scan_new_declared(Plugin *plugin, SkillScan **ret, char **ret_reason) {
        g_autoptr(SkillScan) scan = g_new0(SkillScan, 1);

        scan->declared = true;
        scan->plugin = plugin_ref(plugin);
        scan->paths = g_ptr_array_new_with_free_func(g_free);
        scan->skills = g_ptr_array_new_with_free_func(release_skill);
        (void) plugin_foreach_file(plugin, on_declared_file, scan);
        if (scan->paths->len > SKILL_CANDIDATES_MAX) {
                *ret_reason = g_strdup_printf("the manifest declares %u skills; a plugin may have %u", scan->paths->len, SKILL_CANDIDATES_MAX);
                return -EBADMSG;
        }

        *ret = g_steal_pointer(&scan);
        return 0;
}

static int add_skill(SkillScan *scan, Skill *skill, char **ret_reason) {
        for (size_t i = 0; i < scan->skills->len; i++) {
                const Skill *other = g_ptr_array_index(scan->skills, i);

                if (strcmp(other->folded, skill->folded) != 0)
                        continue;
                *ret_reason = g_strdup_printf("%s and %s have the same name", other->path, skill->path);
                skill_free(skill);
                return -EEXIST;
        }
        g_ptr_array_add(scan->skills, skill);
        return scan->next < scan->paths->len;
}

static int scan_file(SkillScan *scan, char **ret_reason) {
        const char *path = g_ptr_array_index(scan->paths, scan->next++);
        PluginFile file = {};
        Skill *skill;
        int r;

        if (!plugin_find_file(scan->plugin, path, &file)) {
                *ret_reason = g_strdup_printf("%s is gone from the reviewed bundle", path);
                return -EBADMSG;
        }
        scan->bytes += file.size;
        if (scan->bytes > SKILL_SCAN_BYTES_MAX) {
                *ret_reason = g_strdup_printf("the skills of one root may have at most %zu bytes together", SKILL_SCAN_BYTES_MAX);
                return -EBADMSG;
        }
        r = skill_new(scan->plugin, &file, &skill, ret_reason);
        return r < 0 ? -ENOEXEC : add_skill(scan, skill, ret_reason);
}

int skill_scan_step(SkillScan *scan, char **ret_reason) {
        g_autofree char *reason = NULL;
        int r;

        if (scan->next >= scan->paths->len)
                return 0;
        r = scan_file(scan, &reason);
        if (r >= 0)
                return r;
        if (scan->declared && (r == -ENOEXEC || r == -EEXIST))
                return scan->next < scan->paths->len;

        *ret_reason = g_steal_pointer(&reason);
        return -EBADMSG;
}

GPtrArray *skill_scan_steal(SkillScan *scan) {
        return g_steal_pointer(&scan->skills);
}
