/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "service/host-state.h"

/* A host in JSON, for people and programs that look. */

static void write_limit(JWriter *writer, const char *name, uint64_t configured, int r, const CgroupValue *value) {
        jwriter_key(writer, name);
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "configured", configured);
        if (r >= 0) {
                jwriter_key(writer, "effective");
                if (value->limit == CGROUP_UNLIMITED)
                        jwriter_null(writer);
                else
                        jwriter_uint(writer, value->limit);
                jwriter_member_boolean(writer, "enforced", value->enforced);
                if (value->reason[0])
                        jwriter_member_string(writer, "reason", value->reason);
        }
        jwriter_end_object(writer);
}

void host_write_limits(const Host *host, JWriter *writer) {
        const Config *config = host->context->config;
        CgroupReading reading = {};
        int r = host->process ? host_process_read_usage(host->process, &reading) : -ENODATA;

        jwriter_begin_object(writer);
        write_limit(writer, "memory", config->memory_bytes, r, &reading.memory);
        write_limit(writer, "tasks", config->tasks, r, &reading.tasks);
        jwriter_end_object(writer);
}

void host_write_usage(const Host *host, JWriter *writer) {
        CgroupReading reading = {};

        jwriter_begin_object(writer);
        if (host->process && host_process_read_usage(host->process, &reading) >= 0) {
                jwriter_member_uint(writer, "memory", reading.memory.usage);
                jwriter_member_uint(writer, "tasks", reading.tasks.usage);
                jwriter_member_uint(writer, "cpu_usec", reading.cpu.usage);
        }
        jwriter_end_object(writer);
}

static void write_entries(const Host *host, JWriter *writer) {
        const OwnerEntry *entry;

        jwriter_key(writer, "entries");
        jwriter_begin_array(writer);
        for (size_t i = 0; host->owner && (entry = owner_get_entry(host->owner, i)); i++) {
                jwriter_begin_object(writer);
                jwriter_member_string(writer, "path", entry->path);
                jwriter_member_string(writer, "sha256", entry->sha256);
                jwriter_member_string(writer, "state", owner_state_to_string(entry->state));
                if (entry->failure)
                        jwriter_member_string(writer, "failure", entry->failure);
                jwriter_end_object(writer);
        }
        jwriter_end_array(writer);
}

/* When it runs, and where what is known of it comes from. */
static void write_activation(const Host *host, JWriter *writer) {
        bool listed = host_is_listed(host), idle = host->state == HOST_IDLE;

        jwriter_member_string(writer, "activation", host_runs_always(host) ? "eager" : "on-demand");
        jwriter_member_uint(writer, "idle_sec", host->context->config->idle_msec / 1000);
        jwriter_member_string(writer, "listed_from", listed ? "record" : idle || !host->owner ? "nothing" : "activation");
        if (!listed && host->record_reason)
                jwriter_member_string(writer, "no_record_because", host->record_reason);
        if (host->owner && owner_was_touched(host->owner))
                jwriter_member_boolean(writer, "changed_since_activation", true);
}

static void write_diagnostic(const char *text, void *userdata) {
        jwriter_string(userdata, text);
}

void host_write(const Host *host, JWriter *writer) {
        uint64_t now = 0;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        jwriter_member_string(writer, "state", host_get_state_word(host));
        if (host->reason)
                jwriter_member_string(writer, "reason", host->reason);
        if (host_get_unit(host))
                jwriter_member_string(writer, "unit", host_get_unit(host));
        write_activation(host, writer);
        jwriter_member_uint(writer, "crashes", crash_budget_count(&host->budget, now));
        write_entries(host, writer);
        jwriter_key(writer, "limits");
        host_write_limits(host, writer);
        jwriter_key(writer, "usage");
        host_write_usage(host, writer);
        jwriter_member_uint(writer, "calls", host->usage.calls);
        jwriter_member_uint(writer, "failures", host->usage.failures);
        jwriter_member_raw(writer, "lock", host_get_lock(host) ?: "{}");
        jwriter_member_raw(writer, "sandbox", host_get_sandbox_report(host) ?: "{}");
        jwriter_key(writer, "diagnostics");
        jwriter_begin_array(writer);
        host_foreach_diagnostic(host, write_diagnostic, writer);
        jwriter_end_array(writer);
}

HostState host_get_state(const Host *host) {
        return host->state;
}

const char *host_get_state_word(const Host *host) {
        return host_state_to_string(host->state);
}

const char *host_get_reason(const Host *host) {
        return host->reason;
}

Plugin *host_get_plugin(const Host *host) {
        return host->plugin;
}

Owner *host_get_owner(const Host *host) {
        return host->owner;
}

Rpc *host_get_rpc(const Host *host) {
        return host->process ? host_process_rpc(host->process) : NULL;
}

const char *host_get_unit(const Host *host) {
        return host->process ? host_process_unit(host->process) : NULL;
}

const char *host_get_sandbox_report(const Host *host) {
        const char *report = host->process ? host_process_report(host->process) : NULL;

        return report ?: host->report;
}

static void keep(char **kept, const char *said, bool always) {
        if (!said && !always)
                return;
        g_free(*kept);
        *kept = g_strdup(said);
}

void host_keep_reports(Host *host, const HostProcess *process) {
        keep(&host->report, process ? host_process_report(process) : NULL, !process);
        keep(&host->lock, process ? host_process_lock(process) : NULL, !process);
}

const char *host_get_lock(const Host *host) {
        return host->lock;
}

void host_foreach_diagnostic(const Host *host, void (*each)(const char *text, void *userdata), void *userdata) {
        for (const GList *item = host->diagnostics.head; item; item = item->next)
                each(item->data, userdata);
}
