/* SPDX-License-Identifier: MIT */
#include "service/tool-guards.h"

#include <string.h>

#include "common/cleanup.h"

static void note_untrusted(Invocation *invocation) {
        const PluginSet *plugins = invocation->service->plugins;

        for (size_t i = 0; i < plugin_set_count(plugins); i++) {
                const Plugin *plugin = plugin_set_get(plugins, i);

                if (plugin_is_enabled(plugin) && plugin_get_trust(plugin) != TRUST_TRUSTED)
                        invocation_note_verdict(invocation, plugin_get_name(plugin), trust_status_to_string(plugin_get_trust(plugin)));
        }
}

typedef struct GuardLook {
        const Plugin *plugin;
        bool listens;
} GuardLook;

static void look_at_listener(Registration *listener, void *userdata) {
        GuardLook *look = userdata;

        look->listens = look->listens || owner_get_plugin(listener->owner) == look->plugin;
}

/* Why a guard does not guard; NULL when it does. */
static char *find_fault(const Service *service, const char *name) {
        GuardLook look = {};
        Plugin *plugin = NULL;

        if (plugin_set_find(service->plugins, name, &plugin, NULL) < 0)
                return g_strdup("it is not installed");
        if (plugin_get_label(plugin) != PLUGIN_ACTIVE)
                return g_strdup(plugin_get_inactive_reason(plugin) ?: "it is not active");
        look.plugin = plugin;
        registry_foreach(service->registry, REGISTRATION_HOOK, look_at_listener, &look);
        return look.listens ? NULL : g_strdup("it is active, but listens to nothing now");
}

void tool_guards_check(Invocation *invocation) {
        char **guards = invocation->service->config->guards;

        note_untrusted(invocation);
        for (size_t i = 0; guards && guards[i]; i++) {
                g_autofree char *fault = find_fault(invocation->service, guards[i]);
                const HookSource source = { .label = guards[i], .strict = true };

                if (!fault)
                        continue;
                if (!invocation->fold)
                        invocation->fold = hook_fold_new();
                (void) hook_fold_add_failure(invocation->fold, &source, HOOK_FAILURE_ABSENT, fault);
                invocation_note_verdict(invocation, guards[i], "not there");
        }
}
