/* SPDX-License-Identifier: MIT */
/* Sealed copies that nobody needs any more: which they are, and their removal. */
#include <string.h>

#include "common/cleanup.h"
#include "service/plugin-job-private.h"
#include "service/plugin-private.h"
#include "service/staging.h"

/* Which sealed copies the state file still speaks of: the current one and the one before, for the differences. */
static void note_needed(const char *plugin_id, const TrustRecord *record, void *userdata) {
        GHashTable *needed = userdata;
        g_autofree char *folder = staged_copy_folder(plugin_id);
        const char *current = NULL;
        size_t noted = 0;

        for (size_t i = record->history->len; i > 0 && noted < 2; i--) {
                const TrustReceipt *receipt = g_ptr_array_index(record->history, i - 1);

                if (g_strcmp0(receipt->content_hash, current) == 0)
                        continue;
                current = receipt->content_hash;
                g_hash_table_add(needed, g_build_filename(folder, current, NULL));
                noted++;
        }
        if (record->trust)
                g_hash_table_add(needed, g_build_filename(folder, record->trust->content_hash, NULL));
}

static bool is_needed(const char *folder, const char *content_hash, void *userdata) {
        g_autofree char *path = g_build_filename(folder, content_hash, NULL);

        return g_hash_table_contains(userdata, path);
}

/* Lets go of copies that only we still have; what is left is in use by a call. */
static void note_held(PluginSet *set, GHashTable *needed) {
        for (size_t i = set->copies->len; i > 0; i--) {
                StagedCopy *copy = g_ptr_array_index(set->copies, i - 1);
                const char *path = staged_copy_get_path(copy);

                if (staged_copy_is_held(copy))
                        g_hash_table_add(needed,
                                        g_strdup(path + strlen(codewhale_home_get_path(set->home, HOME_STAGED)) + 1));
                else
                        g_ptr_array_remove_index(set->copies, (guint) (i - 1));
        }
}

/* NULL: without a state file that can be trusted nobody knows. */
static GHashTable *list_needed(PluginSet *set) {
        GHashTable *needed;

        if (set->state_problem)
                return NULL;

        needed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        trust_state_foreach(set->state, note_needed, needed);
        note_held(set, needed);
        return needed;
}

void plugin_set_sweep(PluginSet *set) {
        /* A worker may be making a copy. */
        g_autoptr(GHashTable) needed = set->working ? NULL : list_needed(set);

        if (needed)
                staging_sweep(set->home, is_needed, needed);
}

static bool has_leftovers(PluginSet *set) {
        g_autoptr(GHashTable) needed = list_needed(set);

        return needed && staging_has_unneeded(set->home, is_needed, needed);
}

void plugin_set_tidy(PluginSet *set) {
        if (!has_leftovers(set))
                return;
        if (set->events.leftover)
                set->events.leftover(set, set->userdata);
        else
                plugin_set_sweep(set);
}

/* The job: a large copy takes longer to remove than the loop may stand still. */

static int run_sweep(void *data, GString *ret_text, sd_bus_error *reterr) {
        PluginJob *job = data;

        (void) ret_text;
        (void) reterr;
        plugin_set_sweep(job->set);
        return 0;
}

static int step_sweep(PluginJob *job) {
        (void) plugin_set_sync_state(job->set, NULL);
        if (!has_leftovers(job->set))
                return PLUGIN_STEP_DONE;
        job->stage = PLUGIN_STAGE_WRITING;
        job->step = plugin_job_step_done;
        return plugin_job_work(job, run_sweep, job);
}

PluginJob *plugin_job_sweep(PluginSet *set, sd_event *event, PluginJobDone done, void *userdata) {
        return plugin_job_new(set, event, NULL, step_sweep, done, userdata);
}
