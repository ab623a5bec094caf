/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "sandbox/spec.h"
#include "service/host-state.h"

/* Entries are activated one after the other in declaration order. One that fails is withdrawn alone; the plugin fails only
 * when none is left (contract 1.6, 4.0.4). */

static const char *const status_words[] = { "ok", "failed", NULL };
static const ShapeField result_fields[] = {
        { .name = "status", .type = SHAPE_WORD, .words = status_words },
        { .name = "tools", .type = SHAPE_ARRAY, .max = TOOLS_PER_OWNER_MAX, .optional = true },
        { .name = "commands", .type = SHAPE_ARRAY, .max = COMMANDS_PER_OWNER_MAX, .optional = true },
        { .name = "diagnostic", .type = SHAPE_STRING, .optional = true },
        {},
};

static int write_file(const PluginFile *file, void *userdata) {
        JWriter *writer = userdata;

        jwriter_key(writer, file->path);
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "sha256", file->sha256);
        if (file->erased_path) {
                jwriter_key(writer, "erased");
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "path", file->erased_path);
                jwriter_member_string(writer, "sha256", file->erased_sha256);
                jwriter_end_object(writer);
        }
        jwriter_end_object(writer);
        return 0;
}

static void write_entry(JWriter *writer, const char *key, const OwnerEntry *entry) {
        jwriter_key(writer, key);
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "path", entry->path);
        jwriter_member_string(writer, "sha256", entry->sha256);
        jwriter_end_object(writer);
}

static char *activate_params(const Host *host, const OwnerEntry *entry, size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_key(&writer, "owner");
        owner_write(host->owner, &writer);
        write_entry(&writer, "scope", entry);
        write_entry(&writer, "entry", entry);
        jwriter_member_string(&writer, "plugin_name", plugin_get_name(host->plugin));
        jwriter_member_string(&writer, "root", SANDBOX_PLUGIN_PATH);
        jwriter_member_string(&writer, "data_dir", SANDBOX_DATA_PATH);
        jwriter_member_raw(&writer, "config", host->config_json);
        jwriter_key(&writer, "files");
        jwriter_begin_object(&writer);
        (void) plugin_foreach_file(host->plugin, write_file, &writer);
        jwriter_end_object(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

static void entry_failed(Host *host, OwnerEntry *entry, const char *why) {
        owner_entry_set_state(entry, OWNER_FAILED, why);
        registry_withdraw(host->context->registry, host->owner, entry);
        host_add_diagnostic(host, "%s was not activated: %s", entry->path, why);
        host_remember_failure(host, entry);
        host_tear_down_entry(host, entry);
}

static void on_activated(const RpcAnswer *answer, void *userdata) {
        Host *host = userdata;
        OwnerEntry *entry;
        g_autofree char *reason = NULL;

        /* The process ended: the host hears of that in its own way, and blames the plugin for it. */
        if (answer->outcome == RPC_OUTCOME_CLOSED || answer->outcome == RPC_OUTCOME_CANCELLED || !host->owner)
                return;

        entry = owner_get_entry(host->owner, host->next_entry);
        if (answer->outcome == RPC_OUTCOME_TIMED_OUT)
                entry_failed(host, entry, "its activation did not end within 5 s");
        else if (answer->outcome == RPC_OUTCOME_ERROR)
                entry_failed(host, entry, answer->message);
        else if (shape_check(answer->result, result_fields, &reason) < 0) {
                g_autofree char *text = g_strdup_printf(PROTOCOL_VIOLATION ": the answer to ext/activate: %s", reason);

                host_process_kill(host->process, text);
                return;
        } else if (!jval_equals_text(jval_member(answer->result, "status"), "ok"))
                entry_failed(host, entry, jval_string(jval_member(answer->result, "diagnostic"), NULL) ?: "no reason was given");
        else
                owner_entry_set_state(entry, OWNER_ACTIVE, NULL);

        host->next_entry++;
        host_activate(host);
}

/* All entries had their turn. */
static void host_finish_activation(Host *host) {
        g_autofree char *reason = NULL;
        const OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(host->owner, i)); i++)
                if (entry->state == OWNER_ACTIVE) {
                        host_compare_listing(host);
                        owner_set_state(host->owner, OWNER_ACTIVE, NULL);
                        registry_announce(host->context->registry, host->owner);
                        host_on_activated(host);
                        return;
                }

        entry = owner_get_entry(host->owner, 0);
        reason = g_strdup_printf("no entry could be activated: %s: %s", entry->path, entry->failure);
        host_fail(host, HOST_STAGE_ACTIVATION, ERROR_EXECUTION_FAILED, reason);
}

/* The next entry that is to be tried; those that failed with these bytes and settings before are not. */
static const OwnerEntry *host_next_entry(Host *host) {
        const char *before;
        OwnerEntry *entry;

        while ((entry = owner_get_entry(host->owner, host->next_entry)) && (before = host_recall_failure(host, entry))) {
                owner_entry_set_state(entry, OWNER_FAILED, before);
                registry_withdraw(host->context->registry, host->owner, entry);
                host->next_entry++;
        }
        return entry;
}

void host_activate(Host *host) {
        const OwnerEntry *entry = host_next_entry(host);
        Rpc *rpc = host_process_rpc(host->process);
        g_autofree char *params = NULL;
        size_t size;
        int r;

        if (!entry) {
                host_finish_activation(host);
                return;
        }
        params = activate_params(host, entry, &size);
        r = rpc ? rpc_call(rpc, 0, "ext/activate", params, size, HOST_ACTIVATE_MSEC + HOST_ACTIVATE_GRACE_MSEC, on_activated, host,
                           NULL) : -ENOTCONN;
        if (r < 0)
                host_process_kill(host->process, "the host could not be told to activate the plugin");
}
