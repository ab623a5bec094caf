/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/limits.h"
#include "policy/admission.h"

struct Admission {
        GHashTable *allowed; /* lower case */
        GHashTable *denied;
};

Admission *admission_new(void) {
        Admission *admission = g_new0(Admission, 1);

        admission->allowed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        admission->denied = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        return admission;
}

Admission *admission_free(Admission *admission) {
        if (!admission)
                return NULL;

        g_hash_table_unref(admission->allowed);
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
        return list_add(admission->allowed, name);
}

int admission_deny(Admission *admission, const char *name) {
        return list_add(admission->denied, name);
}

static bool list_has(GHashTable *list, const char *name, const char *policy_name) {
        g_autofree char *lower = g_ascii_strdown(name, -1);

        return g_hash_table_contains(list, lower) || g_hash_table_contains(list, policy_name);
}

bool admission_check(const Admission *admission, const char *name, const char *policy_name, const char **ret_why) {
        const char *why = NULL;

        if (list_has(admission->denied, name, policy_name))
                why = "the tool is on the list of denied tools";
        else if (g_hash_table_size(admission->allowed) > 0 && !list_has(admission->allowed, name, policy_name))
                why = "the tool is not on the list of allowed tools";

        if (why && ret_why)
                *ret_why = why;
        return !why;
}
