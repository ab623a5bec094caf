/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/log.h"
#include "service/host-state.h"

/* What a running host may ask of the service. Its parameters have the right shape already; here it is judged whether they
 * come from the plugin's present activation, and whether the rules allow it. */

static void respond_text(Host *host, uint64_t id, const char *json) {
        Rpc *rpc = host_process_rpc(host->process);

        if (rpc)
                (void) rpc_respond(rpc, id, json, strlen(json));
}

static void respond_error(Host *host, uint64_t id, int code, const char *message) {
        Rpc *rpc = host_process_rpc(host->process);

        if (rpc)
                (void) rpc_respond_error(rpc, id, code, message);
}

static void respond_registered(Host *host, uint64_t id, uint64_t handle, const char *refusal) {
        g_autofree char *answer = NULL;
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        if (refusal)
                jwriter_member_string(&writer, "refused", refusal);
        else
                jwriter_member_uint(&writer, "handle", handle);
        jwriter_end_object(&writer);
        answer = jwriter_steal(&writer, NULL);
        respond_text(host, id, answer);
}

/* The host lives at least as long as its proposals: whatever ends it withdraws them first. */
typedef struct SkillProposal {
        Host *host;
        uint64_t id;
} SkillProposal;

static void on_skills_answered(uint64_t handle, const char *refusal, void *userdata) {
        g_autofree SkillProposal *proposal = userdata;

        respond_registered(proposal->host, proposal->id, handle, refusal);
}

static void on_register(Host *host, uint64_t id, Jval params) {
        g_autofree char *refusal = NULL, *reason = NULL;
        uint64_t handle = 0;
        int r;

        if (wire_register_check(params, &reason) < 0) {
                g_autofree char *text = g_strdup_printf(PROTOCOL_VIOLATION ": registry/register: %s", reason);

                host_process_kill(host->process, text);
                return;
        }

        if (jval_equals_text(jval_member(params, "kind"), "skill_root")) {
                SkillProposal *proposal = g_new(SkillProposal, 1);

                *proposal = (SkillProposal) { host, id };
                registry_propose_skills(host->context->registry, host->owner, params, on_skills_answered, proposal);
                return;
        }
        r = registry_register(host->context->registry, host->owner, params, &handle, &refusal);
        host->listable = host->listable && (r < 0 || registry_can_list(params));
        host_note_guard(host);
        respond_registered(host, id, handle, refusal);
}

static void on_unregister(Host *host, uint64_t id, Jval params) {
        uint64_t handle;

        (void) jval_uint64(jval_member(params, "handle"), &handle);
        registry_unregister(host->context->registry, host->owner, handle);
        host_note_guard(host);
        respond_text(host, id, "{}");
}

/* ---- storage ---- */

static int storage_error_code(int r) {
        switch (r) {
        case -EINVAL:
                return RPC_INVALID_PARAMS;
        case -EDQUOT:
                return RPC_STORAGE_LIMIT;
        case -EBADMSG:
                return RPC_STORAGE_CORRUPT;
        case -ENODEV:
                return RPC_NOT_AVAILABLE;
        case -ESTALE:
                return RPC_STORAGE_STALE;
        default:
                return RPC_STORAGE_IO;
        }
}

static const char *storage_error_text(int r) {
        switch (r) {
        case -EINVAL:
                return "a key is 1 to 128 bytes of UTF-8 without NUL, a value is JSON of at most 64 levels";
        case -EDQUOT:
                return "over the limit: 128 KiB a value, 4 MiB and 1,024 keys a plugin";
        case -EBADMSG:
                return "the record is damaged; delete it to go on";
        case -ENODEV:
                return "storage is not available any more";
        case -ESTALE:
                return "the record is not the one that was read any more";
        default:
                return g_strerror(-r);
        }
}

static void respond_storage(Host *host, uint64_t id, int r, const char *json) {
        if (r < 0)
                respond_error(host, id, storage_error_code(r), storage_error_text(r));
        else
                respond_text(host, id, json);
}

static void write_version(JWriter *writer, uint64_t version) {
        char text[STORAGE_VERSION_CHARS_MAX + 1];

        (void) snprintf(text, sizeof text, "%" PRIu64, version);
        jwriter_member_string(writer, "version", text);
}

/* Compare and set, an extra of ours: the value is kept only while the record is the one that was read (0: while there is none). */
static void on_storage_set_if(Host *host, uint64_t id, Jval params) {
        const char *expected = jval_text(jval_member(params, "if_version"));
        size_t key_size, size;
        const char *key = jval_string(jval_member(params, "key"), &key_size);
        const char *value = jval_source(jval_member(params, "value"), &size);
        uint64_t before, after = 0;
        g_autofree char *answer = NULL;
        g_auto(JWriter) writer = {};
        int r = -ENODEV;

        if (!expected || !g_ascii_string_to_unsigned(expected, 10, 0, UINT64_MAX, &before, NULL))
                r = -EINVAL;
        else if (host->records)
                r = record_store_set_if(host->records, key, key_size, before, value, size, &after);
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        write_version(&writer, after);
        jwriter_end_object(&writer);
        answer = jwriter_steal(&writer, NULL);
        respond_storage(host, id, r, answer);
}

static void on_storage_get(Host *host, uint64_t id, Jval params) {
        g_autofree char *value = NULL, *answer = NULL;
        g_auto(JWriter) writer = {};
        size_t key_size, size;
        const char *key = jval_string(jval_member(params, "key"), &key_size);
        uint64_t version = 0;
        int r = host->records ? record_store_get(host->records, key, key_size, &value, &size, &version) : -ENODEV;

        if (r <= 0) {
                respond_storage(host, id, r, "{\"found\":false}");
                return;
        }
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_boolean(&writer, "found", true);
        jwriter_key(&writer, "value");
        jwriter_raw(&writer, value, size);
        write_version(&writer, version);
        jwriter_end_object(&writer);
        answer = jwriter_steal(&writer, NULL);
        respond_text(host, id, answer);
}

static void on_storage_set(Host *host, uint64_t id, Jval params) {
        size_t key_size, size;
        const char *key = jval_string(jval_member(params, "key"), &key_size);
        const char *value = jval_source(jval_member(params, "value"), &size);
        int r;

        if (!jval_is(jval_member(params, "if_version"), J_ABSENT)) {
                on_storage_set_if(host, id, params);
                return;
        }
        r = host->records ? record_store_set(host->records, key, key_size, value, size) : -ENODEV;

        respond_storage(host, id, r, "{}");
}

static void on_storage_delete(Host *host, uint64_t id, Jval params) {
        size_t key_size;
        const char *key = jval_string(jval_member(params, "key"), &key_size);
        int r = host->records ? record_store_delete(host->records, key, key_size) : -ENODEV;

        respond_storage(host, id, r, r > 0 ? "{\"deleted\":true}" : "{\"deleted\":false}");
}

/* The clean-up of a host that goes to sleep: its registrations are gone already, and storage is closed to it (contract 4.0.4). */
static void on_request_of_retiring(Host *host, const WireMethod *method, uint64_t id) {
        if (method->id == WIRE_UNREGISTER)
                respond_text(host, id, "{}");
        else
                respond_error(host, id, RPC_NOT_AVAILABLE, "the host is being stopped because nobody needs it now");
}

void host_on_request(Host *host, const WireMethod *method, uint64_t id, Jval params) {
        if (host->retiring && owner_matches(host->retiring, jval_member(params, "owner"))) {
                on_request_of_retiring(host, method, id);
                return;
        }
        /* What a core call says of its owner is judged together with its ticket. */
        if (host->owner && method->id == WIRE_CORE_CALL) {
                host_table_tell_core_call(host->table, host, id, params);
                return;
        }

        /* Stale fibers and bugs end here: another activation, another plugin, a wrong token (A16). */
        if (!host->owner || !owner_matches(host->owner, jval_member(params, "owner"))) {
                respond_error(host, id, RPC_NOT_AVAILABLE, "this is not the plugin's present activation");
                return;
        }

        switch (method->id) {
        case WIRE_REGISTER:
                on_register(host, id, params);
                break;
        case WIRE_UNREGISTER:
                on_unregister(host, id, params);
                break;
        case WIRE_STORAGE_GET:
                on_storage_get(host, id, params);
                break;
        case WIRE_STORAGE_SET:
                on_storage_set(host, id, params);
                break;
        case WIRE_STORAGE_DELETE:
                on_storage_delete(host, id, params);
                break;
        default:
                g_assert_not_reached();
        }
}

/* ---- notifications ---- */

static void on_faulted(Host *host, Jval params) {
        const char *error = jval_string(jval_member(params, "error"), NULL);

        if (!host->owner || !owner_matches(host->owner, jval_member(params, "owner")) || !owner_is_live(host->owner))
                return;
        host_fail(host, HOST_STAGE_RUNNING, ERROR_EXECUTION_FAILED, error);
}

static bool may_log(Host *host) {
        unsigned dropped;
        uint64_t now = 0;
        bool may;

        (void) sd_event_now(host->context->event, CLOCK_MONOTONIC, &now);
        may = log_meter_admit(&host->log_meter, now, &dropped);
        if (dropped > 0)
                host_add_diagnostic(host, "%u lines of its logger were left out: it may write %u in %u s", dropped, LOG_LINES_MAX,
                                    LOG_LINES_MSEC / 1000);
        /* Said at once, by name: the count comes with the first line of the next window, and that may never come. */
        if (host->log_meter.n == LOG_LINES_MAX + 1)
                host_add_diagnostic(host, "It floods its logger: what it writes beyond %u lines in %u s is left out", LOG_LINES_MAX,
                                    LOG_LINES_MSEC / 1000);
        return may;
}

static int log_level(const char *level) {
        if (g_strcmp0(level, "error") == 0)
                return LOG_ERR;
        if (g_strcmp0(level, "warn") == 0)
                return LOG_WARNING;
        return g_strcmp0(level, "debug") == 0 ? LOG_DEBUG : LOG_INFO;
}

static void on_log(Host *host, Jval params) {
        const char *message = jval_string(jval_member(params, "msg"), NULL);
        int level = log_level(jval_text(jval_member(params, "level")));
        Jval plugin_id = jval_member(params, "plugin_id");

        /* A message in another plugin's name is nobody's (A22). */
        if ((!jval_is(plugin_id, J_ABSENT) && !jval_equals_text(plugin_id, plugin_get_id(host->plugin))) || !may_log(host))
                return;

        log_from_plugin(level, plugin_get_id(host->plugin), host_get_unit(host), message);
        if (level <= LOG_WARNING)
                host_add_diagnostic(host, "%s", message);
}

void host_on_notification(Host *host, const WireMethod *method, Jval params) {
        if (method->id == WIRE_FAULTED)
                on_faulted(host, params);
        else if (method->id == WIRE_LOG)
                on_log(host, params);
}
