/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "service/invocation-state.h"
#include "service/selection-view.h"
#include "service/tool-guards.h"
#include "service/tool-hook-end.h"

/* Asks the pre-execute listeners of one call, one after the other in the order of their registration; all of them share one
 * budget of time (contract 4.8). A listener that can't be asked counts as a refusal: it may be a guard. */

/* More than a record keeps of one text would be written for nothing. */
#define VERDICTS_BYTES_MAX 1024u

static void tool_hooks_next(Invocation *invocation);

static uint64_t hooks_left_msec(const Invocation *invocation) {
        uint64_t now = 0;

        (void) sd_event_now(invocation->service->event, CLOCK_MONOTONIC, &now);
        return now < invocation->hooks_due_usec ? (invocation->hooks_due_usec - now + 999) / 1000 : 0;
}

HookSource tool_hook_source(const Registration *listener) {
        return (HookSource) {
                .label = listener->description[0] ? listener->description : owner_get_plugin_id(listener->owner),
                .plugin = owner_get_plugin_id(listener->owner),
                .strict = true,
        };
}

static HookFailure hook_failure_of(const RpcAnswer *answer) {
        switch (answer->outcome) {
        case RPC_OUTCOME_TIMED_OUT:
                return HOOK_FAILURE_TIMED_OUT;
        case RPC_OUTCOME_CANCELLED:
                return HOOK_FAILURE_REVOKED;
        default:
                return answer->code == RPC_NOT_AVAILABLE ? HOOK_FAILURE_REVOKED : HOOK_FAILURE_THREW;
        }
}

/* Every verdict goes into the record, also of those who had no opinion (pains C12). */
void invocation_note_verdict(Invocation *invocation, const char *label, const char *verdict) {
        if (!invocation->verdicts)
                invocation->verdicts = g_string_new(NULL);
        if (invocation->verdicts->len < VERDICTS_BYTES_MAX)
                g_string_append_printf(invocation->verdicts, "%s%s: %.32s", invocation->verdicts->len > 0 ? "; " : "", label, verdict);
}

static void tool_hooks_advance(Invocation *invocation) {
        invocation->next_listener++;
        tool_hooks_next(invocation);
}

static void on_hook_answer(const RpcAnswer *answer, void *userdata) {
        Invocation *invocation = userdata;
        const Registration *listener = g_ptr_array_index(invocation->listeners, invocation->next_listener);
        const HookSource source = tool_hook_source(listener);

        invocation->rpc_call = NULL;
        if (invocation->over)
                return;

        if (answer->outcome == RPC_OUTCOME_CLOSED) {
                invocation_note_verdict(invocation, source.label, "no verdict");
                tool_hook_await_end(invocation, listener, tool_hooks_advance);
                return;
        }
        if (answer->outcome != RPC_OUTCOME_RESULT)
                (void) hook_fold_add_failure(invocation->fold, &source, hook_failure_of(answer), answer->message);
        else if (!registration_is_usable(listener))
                (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_REVOKED, NULL);
        else
                (void) hook_fold_add_answer(invocation->fold, &source, answer->result);
        invocation_note_verdict(invocation, source.label, (answer->outcome == RPC_OUTCOME_RESULT ? jval_text(jval_member(answer->result, "kind")) : NULL)
                     ?: "no verdict");
        tool_hooks_advance(invocation);
}

static char *hook_params(const Invocation *invocation, const Registration *listener, uint64_t left_msec, size_t *ret_size) {
        const Session *session = invocation->session;
        size_t size = invocation->input_size;
        const char *input = hook_fold_revision(invocation->fold, &size);
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "handle", listener->handle);
        jwriter_member_string(&writer, "event", listener->name);
        jwriter_key(&writer, "payload");
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "name", invocation->target->name);
        jwriter_member_string(&writer, "call_id", invocation->call_id);
        jwriter_key(&writer, "input");
        jwriter_raw(&writer, input ?: invocation->input, input ? size : invocation->input_size);
        jwriter_member_string(&writer, "mode", mode_to_string(session->mode));
        jwriter_member_string(&writer, "workspace", session->workspace);
        jwriter_member_string(&writer, "model", session->model);
        jwriter_end_object(&writer);
        jwriter_member_uint(&writer, "deadline_ms", left_msec);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}

/* Asks one listener. Returns false when it could not be asked, which is folded in already. */
static bool tool_hooks_ask(Invocation *invocation, const Registration *listener) {
        const HookSource source = tool_hook_source(listener);
        uint64_t left_msec = hooks_left_msec(invocation);
        Rpc *rpc = invocation_rpc(invocation->service, listener);
        g_autofree char *params = NULL;
        size_t size;
        int r;

        if (!registration_is_usable(listener) || !rpc) {
                (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_REVOKED, NULL);
                return false;
        }
        if (left_msec == 0) {
                (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_TIMED_OUT, "the time for all listeners was used up");
                return false;
        }

        params = hook_params(invocation, listener, left_msec, &size);
        r = rpc_call(rpc, 0, "hook/evaluate", params, size, left_msec, on_hook_answer, invocation, &invocation->rpc_call);
        if (r < 0) {
                (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_ABSENT, g_strerror(-r));
                return false;
        }
        return true;
}

static bool hooks_decided(const Invocation *invocation) {
        HookVerdict verdict = hook_fold_verdict(invocation->fold);

        return verdict == HOOK_DENY || verdict == HOOK_NO_VERDICT;
}

static void tool_hooks_next(Invocation *invocation) {
        while (!hooks_decided(invocation) && invocation->next_listener < invocation->listeners->len) {
                const Registration *listener = g_ptr_array_index(invocation->listeners, invocation->next_listener);
                const HookSource source = tool_hook_source(listener);

                if (tool_hooks_ask(invocation, listener))
                        return;
                invocation_note_verdict(invocation, source.label, "could not be asked");
                invocation->next_listener++;
        }
        tool_call_decide(invocation);
}

static void release_registration(void *registration) {
        registration_unref(registration);
}

static void add_listener(Registration *listener, void *userdata) {
        Invocation *invocation = userdata;

        if (!selection_hears(invocation->session->selection, listener))
                return;
        if (!invocation->listeners)
                invocation->listeners = g_ptr_array_new_with_free_func(release_registration);
        g_ptr_array_add(invocation->listeners, registration_ref(listener));
}

/* One that is still missing after the wait for it: as good as a listener that can't be asked. */
static void add_missing_guard(Host *host, void *userdata) {
        Invocation *invocation = userdata;
        const Plugin *plugin = host_get_plugin(host);
        const HookSource source = { .label = plugin_get_name(plugin), .plugin = plugin_get_id(plugin), .strict = true };
        g_autofree char *why = NULL;

        if (!selection_sees(invocation->session->selection, plugin))
                return;
        /* The way out comes first: the rest may be clipped. */
        why = g_strdup_printf("'codewhalectl disable %s' does without it; %s", plugin_get_name(plugin),
                              host_get_reason(host) ?: "its host is not running");
        if (!invocation->fold)
                invocation->fold = hook_fold_new();
        (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_ABSENT, why);
        invocation_note_verdict(invocation, source.label, "could not be asked");
}

/* All of their hosts are up, or have failed, which denies the call. The time for listeners begins now: a host that slept had
 * its own time to start in. */
static void tool_hooks_ask_all(Invocation *invocation) {
        uint64_t now = 0;

        (void) sd_event_now(invocation->service->event, CLOCK_MONOTONIC, &now);
        invocation->hooks_due_usec = now + HOOK_BATCH_MSEC * 1000;
        invocation->fold = hook_fold_new();
        tool_hooks_next(invocation);
}

static void tool_hooks_gather(Invocation *invocation) {
        host_table_foreach_missing_guard(invocation->service->hosts, add_missing_guard, invocation);
        tool_guards_check(invocation);
        registry_foreach(invocation->service->registry, REGISTRATION_HOOK, add_listener, invocation);
        if (!invocation->listeners || invocation->fold)
                tool_call_decide(invocation);
        else
                invocation_with_listeners(invocation, tool_hooks_ask_all);
}

void tool_hooks_begin(Invocation *invocation) {
        invocation_with_guards(invocation, tool_hooks_gather);
}
