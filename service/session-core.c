/* SPDX-License-Identifier: MIT */
#include "service/session-core.h"

SessionCore *session_core_new(const char *kind, CoreTools *tools, const CoreBackend *backend, void *core) {
        SessionCore *created = g_new0(SessionCore, 1);

        *created = (SessionCore) {
                .n_ref = 1, .kind = kind, .tools = core_tools_ref(tools), .backend = backend, .core = core,
        };
        return created;
}

SessionCore *session_core_ref(SessionCore *core) {
        core->n_ref++;
        return core;
}

SessionCore *session_core_unref(SessionCore *core) {
        if (!core || --core->n_ref > 0)
                return NULL;

        core->backend->free(core->core);
        core_tools_unref(core->tools);
        g_free(core);
        return NULL;
}

bool session_core_offers(const SessionCore *core, const CoreTool *tool) {
        return !core->backend->offers || core->backend->offers(core->core, tool);
}

void core_operand_free(void *data) {
        CoreOperand *operand = data;

        g_free(operand->path);
        g_free(operand->sha256);
        g_free(operand);
}
