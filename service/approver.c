/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <glib.h>

#include "common/errors.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/approver.h"

Approver *approver_new(const Actor *who, const char *label, sd_bus_error *reterr) {
        g_autofree char *clean = NULL;
        SanitizeFlags flags = 0;
        Approver *approver;

        assert(who && who->name);

        clean = sanitize_line(label ?: "", SESSION_LABEL_BYTES_MAX, &flags);
        if (flags) {
                (void) errors_set(reterr, ERROR_INVALID_OPTION, "Option 'label' must be at most %zu bytes of plain text on one line.",
                                  (size_t) SESSION_LABEL_BYTES_MAX);
                return NULL;
        }

        approver = g_new0(Approver, 1);
        approver->who = actor_copy(who);
        approver->label = g_steal_pointer(&clean);
        return approver;
}

void approver_free(void *pointer) {
        Approver *approver = pointer;

        actor_done(&approver->who);
        g_free(approver->label);
        g_free(approver);
}
