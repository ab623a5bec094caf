/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/core-tool/tool.h"

static const char *type_of(mode_t mode) {
        return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "other";
}

static void add_entry(int directory, const char *name, Answer *answer) {
        JWriter *facts = answer_facts(answer);
        struct stat st;

        if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;
        answer_printf(answer, "%s%s\n", name, S_ISDIR(st.st_mode) ? "/" : S_ISLNK(st.st_mode) ? "@" : "");
        jwriter_begin_object(facts);
        jwriter_member_string(facts, "name", name);
        jwriter_member_string(facts, "type", type_of(st.st_mode));
        if (S_ISREG(st.st_mode))
                jwriter_member_uint(facts, "size", (uint64_t) st.st_size);
        jwriter_end_object(facts);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

void tool_list_dir(const Workspace *workspace, Jval input, Answer *answer) {
        const char *path = jval_text(jval_member(input, "path"));
        g_autofree char *relative = workspace_relative(workspace, path ? path : ".", answer);
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        int directory = relative ? workspace_open_directory(workspace, relative, answer) : -ENOENT;
        DIR *dir = directory < 0 ? NULL : fdopendir(directory);

        if (!dir)
                return;
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                        g_ptr_array_add(names, g_strdup(entry->d_name));
        g_ptr_array_sort(names, compare_names);

        jwriter_key(answer_facts(answer), "entries");
        jwriter_begin_array(answer_facts(answer));
        for (guint i = 0; i < names->len && i < CORE_LIST_ENTRIES_MAX; i++)
                add_entry(dirfd(dir), names->pdata[i], answer);
        jwriter_end_array(answer_facts(answer));
        jwriter_member_uint(answer_facts(answer), "count", names->len);
        if (names->len > CORE_LIST_ENTRIES_MAX)
                answer_printf(answer, "[%u more]\n", names->len - CORE_LIST_ENTRIES_MAX);
        (void) closedir(dir);
}
