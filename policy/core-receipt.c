/* SPDX-License-Identifier: MIT */
#include <assert.h>

#include "common/limits.h"
#include "common/sanitize.h"
#include "policy/core-receipt.h"

#define NOTE_BYTES_MAX 256

typedef struct CoreReceipt {
        char *tool;
        CoreDecision decision;
        CoreStatus status;
        uint64_t bytes;
        char *note;
} CoreReceipt;

struct CoreReceipts {
        uint64_t total;
        GPtrArray *kept; /* CoreReceipt; number n stands at n - 1 */
};

static const char *const decision_table[_CORE_DECISION_MAX] = {
        [CORE_DECISION_AUTO] = "auto",
        [CORE_DECISION_APPROVED] = "approved",
        [CORE_DECISION_DENIED] = "denied",
        [CORE_DECISION_TIMED_OUT] = "timed_out",
        [CORE_DECISION_REFUSED] = "refused",
        [CORE_DECISION_CANCELLED] = "cancelled",
};

static const char *const status_table[_CORE_STATUS_MAX] = {
        [CORE_STATUS_IN_FLIGHT] = "in_flight",
        [CORE_STATUS_OK] = "ok",
        [CORE_STATUS_FAILED] = "failed",
        [CORE_STATUS_REFUSED] = "refused",
};

const char *core_decision_to_string(CoreDecision decision) {
        return decision >= 0 && decision < _CORE_DECISION_MAX ? decision_table[decision] : NULL;
}

const char *core_status_to_string(CoreStatus status) {
        return status >= 0 && status < _CORE_STATUS_MAX ? status_table[status] : NULL;
}

static void receipt_free(void *data) {
        CoreReceipt *receipt = data;

        g_free(receipt->tool);
        g_free(receipt->note);
        g_free(receipt);
}

CoreReceipts *core_receipts_new(void) {
        CoreReceipts *receipts = g_new0(CoreReceipts, 1);

        receipts->kept = g_ptr_array_new_with_free_func(receipt_free);
        return receipts;
}

CoreReceipts *core_receipts_free(CoreReceipts *receipts) {
        if (!receipts)
                return NULL;

        g_ptr_array_unref(receipts->kept);
        g_free(receipts);
        return NULL;
}

uint64_t core_receipts_begin(CoreReceipts *receipts, const char *tool) {
        CoreReceipt *receipt;

        receipts->total++;
        if (receipts->kept->len >= CORE_CALLS_PER_INVOCATION_MAX)
                return receipts->total;

        receipt = g_new0(CoreReceipt, 1);
        receipt->tool = sanitize_line(tool, CORE_CALL_NAME_CHARS_MAX, NULL);
        receipt->decision = CORE_DECISION_CANCELLED;
        g_ptr_array_add(receipts->kept, receipt);
        return receipts->total;
}

static CoreReceipt *find(const CoreReceipts *receipts, uint64_t number) {
        return number >= 1 && number <= receipts->kept->len ? receipts->kept->pdata[number - 1] : NULL;
}

void core_receipts_decide(CoreReceipts *receipts, uint64_t number, CoreDecision decision) {
        CoreReceipt *receipt = find(receipts, number);

        assert(decision >= 0 && decision < _CORE_DECISION_MAX);
        if (receipt)
                receipt->decision = decision;
}

void core_receipts_finish(CoreReceipts *receipts, uint64_t number, CoreStatus status, uint64_t bytes,
                const char *note) {
        CoreReceipt *receipt = find(receipts, number);

        assert(status >= 0 && status < _CORE_STATUS_MAX);
        if (!receipt)
                return;
        receipt->status = status;
        receipt->bytes = bytes;
        g_free(receipt->note);
        receipt->note = note ? sanitize_line(note, NOTE_BYTES_MAX, NULL) : NULL;
}

uint64_t core_receipts_total(const CoreReceipts *receipts) {
        return receipts->total;
}

static void write_receipt(const CoreReceipt *receipt, uint64_t number, JWriter *writer) {
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "seq", number);
        jwriter_member_string(writer, "tool", receipt->tool);
        jwriter_member_string(writer, "decision", core_decision_to_string(receipt->decision));
        jwriter_member_string(writer, "status", core_status_to_string(receipt->status));
        jwriter_member_uint(writer, "bytes", receipt->bytes);
        if (receipt->note)
                jwriter_member_string(writer, "note", receipt->note);
        jwriter_end_object(writer);
}

void core_receipts_write(const CoreReceipts *receipts, JWriter *writer) {
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "total", receipts->total);
        jwriter_key(writer, "calls");
        jwriter_begin_array(writer);
        for (guint i = 0; i < receipts->kept->len; i++)
                write_receipt(receipts->kept->pdata[i], i + 1, writer);
        jwriter_end_array(writer);
        jwriter_end_object(writer);
}
