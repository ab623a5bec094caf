/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/errors.h"
#include "dbus/face.h"
#include "dbus/plugin-facts.h"

static const Host *host_of(const Service *service, Plugin *plugin) {
        return service->hosts ? host_table_find(service->hosts, plugin) : NULL;
}

static char *text_id(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_id(plugin));
}

static char *text_name(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_name(plugin));
}

static char *text_scope(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_scope_to_string(plugin_get_scope(plugin)));
}

static char *text_root(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_root_display(plugin));
}

static char *text_version(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_version(plugin));
}

static char *text_state(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_label_to_string(plugin_get_label(plugin)));
}

static char *text_trust(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(trust_status_to_string(plugin_get_trust(plugin)));
}

static char *text_enabled(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_is_enabled(plugin) ? "1" : "0");
}

static char *text_generation(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup_printf("%" G_GUINT64_FORMAT, plugin_get_generation(plugin));
}

static char *text_content_hash(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_content_hash(plugin));
}

static char *text_capability_hash(const Service *service, Plugin *plugin) {
        (void) service;
        return g_strdup(plugin_get_capability_hash(plugin));
}

static char *text_host_state(const Service *service, Plugin *plugin) {
        const Host *host = host_of(service, plugin);

        return g_strdup(host ? host_get_state_word(host) : host_state_to_string(HOST_DISABLED));
}

static char *text_activation(const Service *service, Plugin *plugin) {
        return g_strdup(config_is_eager(service->config, plugin_get_name(plugin)) ? "eager" : "on-demand");
}

static char *text_failure(const Service *service, Plugin *plugin) {
        const Host *host = host_of(service, plugin);
        const char *reason = plugin_get_inactive_reason(plugin);

        /* Why it may not run comes before why its host does not, and that before a part that is not there. */
        if (!reason && host)
                reason = host_get_reason(host);
        return g_strdup(reason ?: declared_skills_get_problem(service->declared_skills, plugin));
}

static char *text_unit(const Service *service, Plugin *plugin) {
        const Host *host = host_of(service, plugin);

        return g_strdup(host ? host_get_unit(host) : NULL);
}

static char *text_sandbox(const Service *service, Plugin *plugin) {
        const Host *host = host_of(service, plugin);
        const char *report = host ? host_get_sandbox_report(host) : NULL;

        return g_strdup(report ?: "{}");
}

static char *text_lock(const Service *service, Plugin *plugin) {
        const Host *host = host_of(service, plugin);
        const char *lock = host ? host_get_lock(host) : NULL;

        return g_strdup(lock ?: "{}");
}

static const PluginFact plugin_facts[] = {
        { "Id",             's', false, text_id              },
        { "Name",           's', false, text_name            },
        { "Scope",          's', false, text_scope           },
        { "Root",           's', false, text_root            },
        { "Version",        's', true,  text_version         },
        { "State",          's', true,  text_state           },
        { "Trust",          's', true,  text_trust           },
        { "Enabled",        'b', true,  text_enabled         },
        { "Generation",     't', true,  text_generation      },
        { "ContentHash",    's', true,  text_content_hash    },
        { "CapabilityHash", 's', true,  text_capability_hash },
        { "HostState",      's', true,  text_host_state      },
        { "Activation",     's', true,  text_activation      },
        { "Failure",        's', true,  text_failure         },
        { "Unit",           's', true,  text_unit            },
        { "Sandbox",        's', true,  text_sandbox         },
        { "Lock",           's', true,  text_lock            },
};

struct PluginFacts {
        char *texts[G_N_ELEMENTS(plugin_facts)]; /* NULL: not announced, or nothing */
};

const PluginFact *plugin_fact_find(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(plugin_facts); i++)
                if (strcmp(plugin_facts[i].name, name) == 0)
                        return &plugin_facts[i];

        return NULL;
}

int plugin_fact_append(const PluginFact *fact, const Service *service, Plugin *plugin, sd_bus_message *m) {
        g_autofree char *text = fact->text(service, plugin);

        if (fact->type == 'b')
                return sd_bus_message_append(m, "b", (int) (text[0] == '1'));
        if (fact->type == 't')
                return sd_bus_message_append(m, "t", (uint64_t) g_ascii_strtoull(text, NULL, 10));

        return message_append_text(m, text);
}

PluginFacts *plugin_facts_take(const Service *service, Plugin *plugin) {
        PluginFacts *facts = g_new0(PluginFacts, 1);

        for (size_t i = 0; i < G_N_ELEMENTS(plugin_facts); i++)
                if (plugin_facts[i].announced)
                        facts->texts[i] = plugin_facts[i].text(service, plugin);
        return facts;
}

PluginFacts *plugin_facts_free(PluginFacts *facts) {
        if (!facts)
                return NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(plugin_facts); i++)
                g_free(facts->texts[i]);
        g_free(facts);
        return NULL;
}

char **plugin_facts_compare(const PluginFacts *before, const PluginFacts *after) {
        char **names = g_new0(char *, G_N_ELEMENTS(plugin_facts) + 1);
        size_t n = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(plugin_facts); i++)
                if (plugin_facts[i].announced && g_strcmp0(before ? before->texts[i] : NULL, after->texts[i]) != 0)
                        names[n++] = (char *) plugin_facts[i].name;
        return names;
}
