/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "schema/report.h"

void report_init(Report *report) {
        *report = (Report) { .reasons = g_array_new(FALSE, FALSE, sizeof(Reason)) };
}

void report_done(Report *report) {
        if (report->reasons)
                g_array_unref(report->reasons);
        *report = (Report) {};
}

void report_add(Report *report, Reason reason) {
        if (report->reasons->len < SCHEMA_NOTES_MAX)
                g_array_append_val(report->reasons, reason);
        else
                report->n_left_out++;
}

static size_t report_size(const Report *report) {
        return report->reasons->len + report->n_left_out;
}

/* Whether the value as such was of the wrong kind, rather than something in it. */
static bool report_is_foreign(const Report *report, const Jnode *node) {
        for (guint i = 0; i < report->reasons->len; i++) {
                const Reason *reason = &g_array_index(report->reasons, Reason, i);

                if (reason->node == node && (reason->problem == PROBLEM_TYPE || reason->problem == PROBLEM_FALSE))
                        return true;
        }
        return false;
}

bool report_is_nearer(const Report *a, const Report *b, const Jnode *node) {
        bool a_foreign = report_is_foreign(a, node), b_foreign = report_is_foreign(b, node);

        if (a_foreign != b_foreign)
                return b_foreign;
        return report_size(a) < report_size(b);
}

void report_append(Report *report, const Report *other) {
        if (!other->reasons)
                return;
        for (guint i = 0; i < other->reasons->len; i++)
                report_add(report, g_array_index(other->reasons, Reason, i));
        report->n_left_out += other->n_left_out;
}
