/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "policy/admission.h"
#include "policy/tool-name.h"

struct Admission {
        GPtrArray *allowed; /* GHashTable of names in lower case to places; the last one takes new names */
        GHashTable *denied;
};

static void list_free(void *list) {
        g_hash_table_unref(list);
}

void admission_begin_list(Admission *admission) {
        g_ptr_array_add(admission->allowed, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free));
}

Admission *admission_new(void) {
        Admission *admission = g_new0(Admission, 1);

        admission->allowed = g_ptr_array_new_with_free_func(list_free);
        admission_begin_list(admission);
        admission->denied = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
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

static int list_add(GHashTable *list, const char *name, const char *at) {
        if (g_hash_table_size(list) >= ADMISSION_NAMES_MAX)
                return -ENOBUFS;

        g_hash_table_replace(list, g_ascii_strdown(name, -1), g_strdup(at));
        return 0;
}

int admission_allow(Admission *admission, const char *name, const char *at) {
        return list_add(admission->allowed->pdata[admission->allowed->len - 1], name, at);
}

int admission_deny(Admission *admission, const char *name, const char *at) {
        return list_add(admission->denied, name, at);
}

static bool list_has(GHashTable *list, const char *name, const char *policy_name, const char **ret_at) {
        g_autofree char *lower = g_ascii_strdown(name, -1);
        const char *const names[] = { lower, policy_name, tool_short_name(policy_name), tool_family_of(policy_name) };
        void *at = NULL;
        bool found = false;

        /* Each of them means the tool, however the call is spelled. */
        for (size_t i = 0; i < G_N_ELEMENTS(names) && !found; i++)
                found = names[i] && g_hash_table_lookup_extended(list, names[i], NULL, &at);

        if (ret_at)
                *ret_at = at;
        return found;
}

static bool lists_allow(const GPtrArray *lists, const char *name, const char *policy_name) {
        for (guint i = 0; i < lists->len; i++)
                if (g_hash_table_size(lists->pdata[i]) > 0 && !list_has(lists->pdata[i], name, policy_name, NULL))
                        return false;

        return true;
}

bool admission_check(const Admission *admission, const char *name, const char *policy_name, const char **ret_why,
                const char **ret_at) {
        const char *why = NULL, *at = NULL;

        if (list_has(admission->denied, name, policy_name, &at))
                why = "the tool is on the list of denied tools";
        else if (!lists_allow(admission->allowed, name, policy_name))
                why = "the tool is not on the list of allowed tools";

        if (why && ret_why)
                *ret_why = why;
        if (why && ret_at)
                *ret_at = at;
        return !why;
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void write_list(GHashTable *list, JWriter *writer) {
        guint length = 0;
        g_autofree char **names = (char **) g_hash_table_get_keys_as_array(list, &length);

        qsort(names, length, sizeof *names, compare_names);
        jwriter_begin_array(writer);
        for (guint i = 0; i < length; i++) {
                const char *at = g_hash_table_lookup(list, names[i]);

                jwriter_begin_object(writer);
                jwriter_member_string(writer, "tool", names[i]);
                if (at)
                        jwriter_member_string(writer, "at", at);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

void admission_write(const Admission *admission, JWriter *writer) {
        jwriter_key(writer, "deny");
        write_list(admission->denied, writer);
        jwriter_key(writer, "allow");
        jwriter_begin_array(writer);
        for (guint i = 0; i < admission->allowed->len; i++)
                if (g_hash_table_size(admission->allowed->pdata[i]) > 0)
                        write_list(admission->allowed->pdata[i], writer);
        jwriter_end_array(writer);
}
