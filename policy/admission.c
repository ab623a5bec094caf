/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/limits.h"
#include "policy/admission.h"

struct Admission {
        GPtrArray *allowed; /* GHashTable of names in lower case; the last one takes new names */
        GHashTable *denied;
};

static void list_free(void *list) {
        g_hash_table_unref(list);
}

void admission_begin_list(Admission *admission) {
        g_ptr_array_add(admission->allowed, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL));
}

Admission *admission_new(void) {
        Admission *admission = g_new0(Admission, 1);

        admission->allowed = g_ptr_array_new_with_free_func(list_free);
        admission_begin_list(admission);
        admission->denied = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return admission;
}

Admission *admission_free(Admission *admission) {
        if (!admission)
                return NULL;

        g_ptr_array_unref(admission->allowed);
        g_hash_table_unref(admission->denied);
        g_free(admission);
        return NULL;
}

static int list_add(GHashTable *list, const char *name) {
        if (g_hash_table_size(list) >= ADMISSION_NAMES_MAX)
                return -ENOBUFS;

        g_hash_table_add(list, g_ascii_strdown(name, -1));
        return 0;
}

int admission_allow(Admission *admission, const char *name) {
        return list_add(admission->allowed->pdata[admission->allowed->len - 1], name);
}

int admission_deny(Admission *admission, const char *name) {
        return list_add(admission->denied, name);
}

static bool list_has(GHashTable *list, const char *name, const char *policy_name) {
        g_autofree char *lower = g_ascii_strdown(name, -1);

        return g_hash_table_contains(list, lower) || g_hash_table_contains(list, policy_name);
}

static bool lists_allow(const GPtrArray *lists, const char *name, const char *policy_name) {
        for (guint i = 0; i < lists->len; i++)
                if (g_hash_table_size(lists->pdata[i]) > 0 && !list_has(lists->pdata[i], name, policy_name))
                        return false;

        return true;
}

bool admission_check(const Admission *admission, const char *name, const char *policy_name,
                const char **ret_why) {
        const char *why = NULL;

        if (list_has(admission->denied, name, policy_name))
                why = "the tool is on the list of denied tools";
        else if (!lists_allow(admission->allowed, name, policy_name))
                why = "the tool is not on the list of allowed tools";

        if (why && ret_why)
                *ret_why = why;
        return !why;
}
