/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "dbus/client-workspace.h"

typedef struct ClientWorkspace {
        PluginSet *plugins;
        Caller *caller;
        char *path;
} ClientWorkspace;

void client_workspace_free(void *pointer) {
        ClientWorkspace *workspace = pointer;

        plugin_set_remove_workspace(workspace->plugins, workspace->path);
        caller_unref(workspace->caller);
        g_free(workspace->path);
        g_free(workspace);
}

static int check_new(const BusServer *server, const Caller *caller, const char *path, sd_bus_error *reterr) {
        unsigned n = 0;

        for (size_t i = 0; i < server->workspaces->len; i++) {
                const ClientWorkspace *known = g_ptr_array_index(server->workspaces, i);

                if (known->caller != caller)
                        continue;
                if (strcmp(known->path, path) == 0)
                        return 0;
                n++;
        }

        return n < CLIENT_WORKSPACES_MAX ? 1
                                         : errors_set(reterr, ERROR_LIMIT_EXCEEDED,
                                                           "One client may look at %u workspaces.", CLIENT_WORKSPACES_MAX);
}

int client_workspace_keep(BusServer *server, Caller *caller, const char *path, sd_bus_error *reterr) {
        PluginSet *plugins = server->service->plugins;
        ClientWorkspace *workspace;
        int r, is_new;

        r = check_new(server, caller, path, reterr);
        if (r <= 0)
                return r;
        is_new = plugin_set_add_workspace(plugins, path);
        if (is_new < 0)
                return errors_set(reterr, ERROR_INVALID_OPTION, "Option 'workspace' must be an absolute path.");

        workspace = g_new0(ClientWorkspace, 1);
        workspace->plugins = plugins;
        workspace->caller = caller_ref(caller);
        workspace->path = g_strdup(path);
        g_ptr_array_add(server->workspaces, workspace);
        return is_new;
}

void client_workspaces_drop(BusServer *server, const Caller *caller) {
        for (size_t i = server->workspaces->len; i > 0; i--)
                if (((ClientWorkspace *) g_ptr_array_index(server->workspaces, i - 1))->caller == caller)
                        g_ptr_array_remove_index_fast(server->workspaces, (unsigned) i - 1);
}
