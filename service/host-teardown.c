/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/log.h"
#include "service/host-state.h"

/* Taking down what was activated, and what is left of it (contract 3.14). The end of a whole activation is the end of its process
 * here, so nothing of it stays. What stays is what an entry that failed leaves in a process that goes on for its siblings: two such in a
 * while, and the process is replaced as soon as nobody needs it. */

#define LOOK_USEC (100u * 1000u)

static const ShapeField result_fields[] = {
        { .name = "disposed", .type = SHAPE_BOOLEAN },
        { .name = "leaked", .type = SHAPE_ARRAY },
        {},
};

/* What is left, for people; NULL when the teardown was clean. */
static char *describe_dirt(const RpcAnswer *answer) {
        g_autoptr(GString) leaked = g_string_new(NULL);
        g_autofree char *reason = NULL;
        Jval item, key;
        bool disposed = false;
        JIter iter;

        if (answer->outcome == RPC_OUTCOME_TIMED_OUT)
                return g_strdup("its clean-up did not end within 2 s");
        if (answer->outcome != RPC_OUTCOME_RESULT)
                return g_strdup_printf("its clean-up failed: %s", answer->message ?: "no reason was given");
        if (shape_check(answer->result, result_fields, &reason) < 0)
                return g_strdup_printf("its clean-up was answered by nonsense: %s", reason);

        iter = jval_iterate(jval_member(answer->result, "leaked"));
        while (leaked->len < DIAGNOSTIC_BYTES_MAX && jiter_next(&iter, &key, &item))
                g_string_append_printf(leaked, "%s%s", leaked->len > 0 ? ", " : "", jval_string(item, NULL) ?: "?");
        if (leaked->len > 0)
                return g_strdup_printf("its clean-up did not end within 2 s and left %s", leaked->str);
        (void) jval_boolean(jval_member(answer->result, "disposed"), &disposed);
        return disposed ? NULL : g_strdup("its clean-up did not end within 2 s");
}

/* ---- the whole of it ---- */

static void on_deactivated(const RpcAnswer *answer, void *userdata) {
        Host *host = userdata;
        g_autofree char *dirt = NULL;

        if (answer->outcome == RPC_OUTCOME_CLOSED || answer->outcome == RPC_OUTCOME_CANCELLED || !host->process)
                return;
        dirt = describe_dirt(answer);
        if (dirt)
                host_add_diagnostic(host, "%s; its process was ended", dirt);
        host_process_stop(host->process, host->reason ?: "the plugin was deactivated");
}

bool host_deactivate(Host *host, const Owner *owner, const char *reason) {
        Rpc *rpc = host_process_rpc(host->process);
        g_autofree char *params = NULL;
        g_auto(JWriter) writer = {};
        size_t size;

        if (!rpc || !owner || !host->activated)
                return false;

        rpc_cancel_all(rpc, reason);
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_key(&writer, "owner");
        owner_write(owner, &writer);
        jwriter_end_object(&writer);
        params = jwriter_steal(&writer, &size);
        return rpc_call(rpc, 0, "ext/deactivate", params, size, HOST_DISPOSE_MSEC + HOST_DISPOSE_GRACE_MSEC, on_deactivated, host,
                        NULL) >= 0;
}

/* ---- the planned restart ---- */

static int on_look(sd_event_source *source, uint64_t usec, void *userdata) {
        Host *host = userdata;
        Rpc *rpc = host_get_rpc(host);

        (void) usec;
        if (!host->dirty.due || !rpc)
                return 0;
        if (host->state != HOST_READY || rpc_pending(rpc) > 0 || host_table_is_in_use(host->table, host)) {
                (void) sd_event_source_set_time_relative(source, LOOK_USEC);
                (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
                return 0;
        }
        host_restart(host, "it is restarted, because clean-ups in it did not end");
        return 0;
}

/* Sealed first by leaving READY, so that no new call slips in; calls that come meanwhile wait for the next run. */
static void plan_restart(Host *host) {
        if (host->look)
                return;
        log_plugin(LOG_NOTICE, NULL, plugin_get_id(host->plugin), host_get_unit(host),
                   "%s will be restarted when nobody needs it: clean-ups in it did not end", plugin_get_name(host->plugin));
        (void) sd_event_add_time_relative(host->context->event, &host->look, CLOCK_MONOTONIC, LOOK_USEC, 0, on_look, host);
}

void host_forget_dirt(Host *host) {
        host->look = sd_event_source_disable_unref(host->look);
        dirty_window_reset(&host->dirty);
}

/* ---- an entry that failed ---- */

static void on_torn_down(const RpcAnswer *answer, void *userdata) {
        Host *host = userdata;
        g_autofree char *dirt = NULL;
        uint64_t now = 0;

        if (answer->outcome == RPC_OUTCOME_CLOSED || answer->outcome == RPC_OUTCOME_CANCELLED || !host->process)
                return;
        dirt = describe_dirt(answer);
        if (!dirt)
                return;
        host_add_diagnostic(host, "of an entry that failed: %s", dirt);
        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        if (dirty_window_note(&host->dirty, now))
                plan_restart(host);
}

void host_tear_down_entry(Host *host, const OwnerEntry *entry) {
        Rpc *rpc = host_get_rpc(host);
        g_autofree char *params = NULL;
        g_auto(JWriter) writer = {};
        size_t size;

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_key(&writer, "owner");
        owner_write(host->owner, &writer);
        jwriter_key(&writer, "entry");
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "path", entry->path);
        jwriter_member_string(&writer, "sha256", entry->sha256);
        jwriter_end_object(&writer);
        jwriter_end_object(&writer);
        params = jwriter_steal(&writer, &size);
        if (rpc)
                (void) rpc_call(rpc, 0, "ext/deactivate", params, size, HOST_DISPOSE_MSEC + HOST_DISPOSE_GRACE_MSEC, on_torn_down,
                                host, NULL);
}

/* ---- what failed is not tried again with the same bytes and settings (contract 3.12) ---- */

void host_remember_failure(Host *host, const OwnerEntry *entry) {
        g_autofree char *key = host_attempt_key(host);

        if (g_strcmp0(host->entries_failed_for, key) != 0)
                host_forget_failures(host);
        if (!host->entries_failed) {
                host->entries_failed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
                host->entries_failed_for = g_steal_pointer(&key);
        }
        g_hash_table_replace(host->entries_failed, g_strdup(entry->path), g_strdup(entry->failure));
}

const char *host_recall_failure(const Host *host, const OwnerEntry *entry) {
        g_autofree char *key = host_attempt_key(host);

        if (!host->entries_failed || g_strcmp0(host->entries_failed_for, key) != 0)
                return NULL;
        return g_hash_table_lookup(host->entries_failed, entry->path);
}

void host_forget_failures(Host *host) {
        g_clear_pointer(&host->entries_failed, g_hash_table_unref);
        g_clear_pointer(&host->entries_failed_for, g_free);
}
