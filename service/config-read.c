/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/address.h"
#include "common/cleanup.h"
#include "common/limits.h"
#include "common/toml.h"
#include "service/config-read.h"

#define ACTIVATION_WORDS "\"on-demand\" or \"eager\""

/* Settings are rows: where they stand, what they take, where they go. */
typedef enum SettingType {
        SETTING_BOOLEAN,
        SETTING_UINT, /* within @min and @max, times @unit */
        SETTING_PATH,
        SETTING_RUNTIME,
        SETTING_POSTURE,
        SETTING_CONFIRM,
        SETTING_NETWORK,
        SETTING_ACTIVATION,
        SETTING_ADDRESSES,
} SettingType;

typedef struct Setting {
        const char *table, *key;
        SettingType type;
        size_t offset;
        uint64_t min, max, unit;
} Setting;

static const Setting settings[] = {
        { "features", "extension_host", SETTING_BOOLEAN, offsetof(Config, extension_host), 0, 0, 0 },
        { "extension_host", "runtime", SETTING_RUNTIME, offsetof(Config, runtime), 0, 0, 0 },
        { "extension_host", "node", SETTING_PATH, offsetof(Config, node), 0, 0, 0 },
        { "extension_host", "bun", SETTING_PATH, offsetof(Config, bun), 0, 0, 0 },
        { "extension_host", "memory_mib", SETTING_UINT, offsetof(Config, memory_bytes), 64, 65536, MIB(1) },
        { "extension_host", "tasks", SETTING_UINT, offsetof(Config, tasks), 16, 4096, 1 },
        { "extension_host", "require_memory_limit", SETTING_BOOLEAN, offsetof(Config, require_memory_limit), 0, 0, 0 },
        { "extension_host", "activation", SETTING_ACTIVATION, offsetof(Config, eager), 0, 0, 0 },
        { "extension_host", "idle_sec", SETTING_UINT, offsetof(Config, idle_msec), 0, 86400, 1000 },
        { "policy", "posture", SETTING_POSTURE, offsetof(Config, posture), 0, 0, 0 },
        { "trust", "confirm", SETTING_CONFIRM, offsetof(Config, confirm), 0, 0, 0 },
        { "approvals", "notify", SETTING_BOOLEAN, offsetof(Config, notify), 0, 0, 0 },
        { "decisions", "keep_arguments", SETTING_BOOLEAN, offsetof(Config, keep_arguments), 0, 0, 0 },
        { "install", "network", SETTING_NETWORK, offsetof(Config, network), 0, 0, 0 },
        { "install", "certificates", SETTING_PATH, offsetof(Config, certificates), 0, 0, 0 },
        { "approvals", "timeout_sec", SETTING_UINT, offsetof(Config, approval_timeout_msec), 0, 86400, 1000 },
        { "core", "web_fetch", SETTING_BOOLEAN, offsetof(Config, web_fetch), 0, 0, 0 },
        { "core", "web_fetch_sec", SETTING_UINT, offsetof(Config, web_fetch_msec), 1, CORE_WEB_SECONDS_MAX, 1000 },
        { "core", "web_fetch_private", SETTING_ADDRESSES, offsetof(Config, web_fetch_private), 0, 0, 0 },
};

/* ---- values ---- */

/* Settings may hold secrets: what is expected is named, and what is there never quoted. */
static void refuse(PolicyDocument *document, const Setting *setting, Jval value, const char *expected) {
        (void) policy_document_refuse(document, value, "[%s] %s must be %s.", setting->table, setting->key, expected);
}

static void read_uint(PolicyDocument *document, const Setting *setting, Jval value, void *place) {
        g_autofree char *expected = NULL;
        uint64_t number;

        if (jval_uint64(value, &number) < 0 || number < setting->min || number > setting->max) {
                expected = g_strdup_printf("a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, setting->min,
                                           setting->max);
                refuse(document, setting, value, expected);
        } else if (setting->offset == offsetof(Config, tasks))
                *(unsigned *) place = (unsigned) number;
        else
                *(uint64_t *) place = number * setting->unit;
}

static void read_path(PolicyDocument *document, const Setting *setting, Jval value, char **place) {
        const char *path = jval_text(value);

        if (path && g_str_has_prefix(path, "~/"))
                *place = g_build_filename(g_get_home_dir(), path + 2, NULL);
        else if (path && path[0] == '/')
                *place = g_strdup(path);
        else
                refuse(document, setting, value, "an absolute path, or one that begins with ~/");
}

static void read_addresses(PolicyDocument *document, const Setting *setting, Jval list, char ***place) {
        g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
        JIter iter = jval_iterate(list);
        AddressPrefix prefix;
        Jval key, item;

        if (!jval_is(list, J_ARRAY) || jval_length(list) > CORE_WEB_PRIVATE_MAX) {
                g_autofree char *expected = g_strdup_printf("a list of at most %u addresses", CORE_WEB_PRIVATE_MAX);

                refuse(document, setting, list, expected);
                return;
        }
        while (jiter_next(&iter, &key, &item)) {
                if (!jval_text(item) || address_prefix_parse(jval_text(item), &prefix) < 0)
                        refuse(document, setting, item, "a list of addresses like \"10.1.2.3\", \"192.168.0.0/16\" or \"fd00::/8\"");
                else
                        g_ptr_array_add(found, g_strdup(jval_text(item)));
        }
        g_ptr_array_add(found, NULL);
        *place = (char **) g_ptr_array_free(g_steal_pointer(&found), FALSE);
}

int config_read_activation(Jval value, bool *ret_eager) {
        if (!jval_equals_text(value, "eager") && !jval_equals_text(value, "on-demand"))
                return -EINVAL;
        *ret_eager = jval_equals_text(value, "eager");
        return 0;
}

/* One of a few words; @ret is the number that it stands for. */
static void read_word(PolicyDocument *document, const Setting *setting, Jval value, int (*find)(const char *word), void *ret,
                const char *expected) {
        int found = jval_text(value) ? find(jval_text(value)) : -EINVAL;

        if (found < 0)
                refuse(document, setting, value, expected);
        else
                memcpy(ret, &found, sizeof found);
}

static int find_runtime(const char *word) {
        return runtime_kind_from_string(word);
}

static int find_posture(const char *word) {
        return posture_from_string(word);
}

static int find_confirm(const char *word) {
        return confirm_method_from_string(word);
}

static int find_network(const char *word) {
        return network_policy_from_string(word);
}

static void read_setting(Config *config, PolicyDocument *document, const Setting *setting, Jval value) {
        void *place = (char *) config + setting->offset;

        switch (setting->type) {
        case SETTING_BOOLEAN:
                if (jval_boolean(value, place) < 0)
                        refuse(document, setting, value, "true or false");
                return;
        case SETTING_UINT:
                read_uint(document, setting, value, place);
                return;
        case SETTING_PATH:
                read_path(document, setting, value, place);
                return;
        case SETTING_ADDRESSES:
                read_addresses(document, setting, value, place);
                return;
        case SETTING_RUNTIME:
                read_word(document, setting, value, find_runtime, place, "\"node\", \"bun\" or \"auto\"");
                return;
        case SETTING_POSTURE:
                read_word(document, setting, value, find_posture, place, "\"ask\", \"auto-review\", \"full-access\" or \"never\"");
                return;
        case SETTING_CONFIRM:
                read_word(document, setting, value, find_confirm, place, "\"auto\", \"polkit\", \"approver\" or \"token\"");
                return;
        case SETTING_NETWORK:
                read_word(document, setting, value, find_network, place, "\"ask\", \"deny\" or \"allow\"");
                return;
        case SETTING_ACTIVATION:
                if (config_read_activation(value, place) < 0)
                        refuse(document, setting, value, ACTIVATION_WORDS);
                return;
        }
        g_assert_not_reached();
}

G_STATIC_ASSERT(sizeof(RuntimeKind) == sizeof(int) && sizeof(Posture) == sizeof(int));
G_STATIC_ASSERT(sizeof(ConfirmMethod) == sizeof(int) && sizeof(NetworkPolicy) == sizeof(int));

/* ---- tables ---- */

static const Setting *find_setting(const char *table, const char *key) {
        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (strcmp(settings[i].table, table) == 0 && strcmp(settings[i].key, key) == 0)
                        return &settings[i];

        return NULL;
}

static bool is_known_table(const char *table) {
        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (strcmp(settings[i].table, table) == 0)
                        return true;

        return false;
}

static size_t read_table(Config *config, PolicyDocument *document, const char *table, Jval object) {
        JIter iter = jval_iterate(object);
        Jval key, value;

        if (!jval_is(object, J_OBJECT)) {
                (void) policy_document_refuse(document, object, "\"%s\" must be a table.", table);
                return 0;
        }
        while (jiter_next(&iter, &key, &value)) {
                const Setting *setting = jval_text(key) ? find_setting(table, jval_text(key)) : NULL;

                if (setting)
                        read_setting(config, document, setting, value);
                else
                        (void) policy_document_refuse(document, key, "there is no setting '%s' in [%s].", jval_text(key) ?: "?", table);
        }
        return jval_length(object);
}

static unsigned depth_of(Jval value, unsigned left) {
        JIter iter = jval_iterate(value);
        unsigned deepest = 0;
        Jval key, item;

        if (left == 0 || (!jval_is(value, J_OBJECT) && !jval_is(value, J_ARRAY)))
                return 0;
        while (jiter_next(&iter, &key, &item))
                deepest = MAX(deepest, depth_of(item, left - 1));
        return deepest + 1;
}

static bool is_date(Jval value) {
        size_t size;
        const char *source = jval_source(value, &size);

        return source && size > strlen(TOML_DATE_PREFIX) && strncmp(source, TOML_DATE_PREFIX, strlen(TOML_DATE_PREFIX)) == 0;
}

/* Of a value that is no deeper than may be. */
static bool holds_date(Jval value) {
        JIter iter = jval_iterate(value);
        Jval key, item;

        if (jval_is(value, J_STRING))
                return is_date(value);
        if (!jval_is(value, J_OBJECT) && !jval_is(value, J_ARRAY))
                return false;
        while (jiter_next(&iter, &key, &item))
                if (holds_date(item))
                        return true;
        return false;
}

Jval config_plugin_table(Jval root, const char *plugin_name) {
        return jval_member(jval_member(jval_member(root, "plugins"), plugin_name), "config");
}

char *config_plugin_table_problem(Jval table) {
        size_t size;

        if (!jval_source(table, &size))
                return NULL;
        if (size > PLUGIN_CONFIG_BYTES_MAX)
                return g_strdup_printf("is over %zu bytes", PLUGIN_CONFIG_BYTES_MAX);
        if (depth_of(table, PLUGIN_CONFIG_DEPTH_MAX + 1) > PLUGIN_CONFIG_DEPTH_MAX)
                return g_strdup_printf("is over %u levels deep", PLUGIN_CONFIG_DEPTH_MAX);
        if (holds_date(table))
                return g_strdup("holds a date or time, which JSON has none of: write it as text, in quotes");
        return NULL;
}

/* [plugins."<name>"]: config, a table that is judged when it is delivered (contract 4.11), activation and guard. One that is over a
 * limit is the affair of that plugin alone. */
static void check_plugin(PolicyDocument *document, const char *name, Jval object) {
        JIter iter = jval_iterate(object);
        bool eager, guard;
        Jval key, value;

        if (!jval_is(object, J_OBJECT)) {
                (void) policy_document_refuse(document, object, "[plugins.\"%s\"] must be a table.", name);
                return;
        }
        while (jiter_next(&iter, &key, &value)) {
                if (jval_equals_text(key, "config") && jval_is(value, J_OBJECT)) {
                        g_autofree char *problem = config_plugin_table_problem(value);

                        if (problem)
                                policy_document_warn(document, value, "[plugins.\"%s\".config] %s; the plugin can't get it.", name,
                                                     problem);
                        continue;
                }
                if (jval_equals_text(key, "activation") && config_read_activation(value, &eager) >= 0)
                        continue;
                if (jval_equals_text(key, "guard") && jval_boolean(value, &guard) >= 0)
                        continue;
                (void) policy_document_refuse(document, key,
                                "[plugins.\"%s\"] takes 'config', a table, 'guard', true or false, and 'activation', "
                                ACTIVATION_WORDS ".", name);
        }
}

static size_t read_plugins(Config *config, PolicyDocument *document, Jval object) {
        g_autoptr(GStrvBuilder) guards = g_strv_builder_new();
        JIter iter = jval_iterate(object);
        bool guard = false;
        Jval key, value;

        if (!jval_is(object, J_OBJECT)) {
                (void) policy_document_refuse(document, object, "\"plugins\" must be a table.");
                return 0;
        }
        while (jiter_next(&iter, &key, &value)) {
                check_plugin(document, jval_text(key) ?: "?", value);
                if (jval_boolean(jval_member(value, "guard"), &guard) >= 0 && guard)
                        g_strv_builder_add(guards, jval_text(key) ?: "?");
        }
        g_strfreev(config->guards);
        config->guards = g_strv_builder_end(guards);
        return jval_length(object);
}

static void note_what_does_nothing(const Config *config, PolicyDocument *document, Jval root) {
        static const char *const names[] = { "web_fetch_private", "web_fetch_sec" };

        for (size_t i = 0; !config->web_fetch && i < G_N_ELEMENTS(names); i++) {
                Jval value = jval_member(jval_member(root, "core"), names[i]);

                if (!jval_is(value, J_ABSENT))
                        policy_document_warn(document, value, "[core] %s does nothing while web_fetch is off.", names[i]);
        }
}

size_t config_read(Config *config, PolicyFile *file) {
        Jval root = policy_file_root(file), key, value;
        PolicyDocument *document = &file->document;
        JIter iter = jval_iterate(root);
        size_t entries = 0;

        while (jiter_next(&iter, &key, &value)) {
                const char *table = jval_text(key);

                if (table && strcmp(table, "plugins") == 0)
                        entries += read_plugins(config, document, value);
                else if (table && is_known_table(table))
                        entries += read_table(config, document, table, value);
                else
                        (void) policy_document_refuse(document, key, "there is no table '%s'.", table ?: "?");
        }
        if (!jval_is(jval_member(jval_member(root, "extension_host"), "runtime"), J_STRING) && config->bun && !config->node)
                config->runtime = RUNTIME_BUN;
        note_what_does_nothing(config, document, root);
        return entries;
}
