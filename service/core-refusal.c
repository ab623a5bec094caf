/* SPDX-License-Identifier: MIT */
#include "common/cleanup.h"
#include "common/sha256.h"
#include "policy/outcome.h"
#include "policy/trace.h"
#include "service/core-refusal.h"

void core_refusal_record(const Invocation *outer, const CoreRefusal *refusal) {
        const Owner *owner = outer->target->owner;
        g_autofree char *digest = sha256_hex(refusal->input, refusal->input_size), *steps = NULL, *kept = NULL;
        g_autoptr(Trace) trace = trace_new();
        char id[LEDGER_ID_SIZE];

        ledger_make_id('c', id);
        trace_add(trace, LAYER_ADMISSION, VERDICT_DENY, refusal->source, "%s", refusal->why);
        steps = trace_to_json(trace);
        if (outer->service->config->keep_arguments)
                kept = g_strndup(refusal->input, refusal->input_size);

        (void) ledger_write(outer->service, &(DecisionRecord) {
                .kind = "core-call",
                .call = id,
                .parent = outer->call_id,
                .outcome = call_outcome_to_string(OUTCOME_REFUSED_BY_POLICY),
                .session = outer->session->id,
                .plugin = owner_get_plugin_id(owner),
                .build = owner_get_content_hash(owner),
                .generation = owner_get_generation(owner),
                .tool = refusal->tool,
                .who_unit = outer->client_unit,
                .who_exe = outer->client_exe,
                .who_name = outer->client,
                .who_uid = outer->client_uid,
                .arguments_digest = digest,
                .arguments_json = kept,
                .posture = posture_to_string(outer->session->posture),
                .mode = mode_to_string(outer->session->mode),
                .provenance = outer->provenance,
                .trace_json = steps,
                .note = refusal->why,
        });
}
