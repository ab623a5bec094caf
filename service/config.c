/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/toml.h"
#include "service/config.h"

#define CONFIG_NAME "config.toml"
#define ACTIVATION_WORDS "\"on-demand\" or \"eager\""

Config *config_new(void) {
        Config *config = g_new0(Config, 1);

        config->runtime = RUNTIME_NODE;
        config->memory_bytes = HOST_MEMORY_BYTES;
        config->tasks = HOST_TASKS_MAX;
        config->idle_msec = HOST_IDLE_MSEC;
        config->posture = POSTURE_ASK;
        config->notify = true;
        return config;
}

static void config_clear(Config *config) {
        g_clear_pointer(&config->node, g_free);
        g_clear_pointer(&config->bun, g_free);
        g_clear_pointer(&config->certificates, g_free);
        g_clear_pointer(&config->error, g_free);
        config->doc = jdoc_free(config->doc);
        g_clear_pointer(&config->text, g_free);
}

Config *config_free(Config *config) {
        if (!config)
                return NULL;

        config_clear(config);
        g_free(config);
        return NULL;
}

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
};

static int refuse(sd_bus_error *reterr, const char *table, const char *key, const char *expected) {
        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: [%s] %s must be %s.", CONFIG_NAME, table, key, expected);
}

static int read_uint(const Setting *setting, Jval value, void *place, sd_bus_error *reterr) {
        g_autofree char *expected = NULL;
        uint64_t number;

        if (jval_uint64(value, &number) < 0 || number < setting->min || number > setting->max) {
                expected = g_strdup_printf("a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, setting->min,
                                           setting->max);
                return refuse(reterr, setting->table, setting->key, expected);
        }
        if (setting->offset == offsetof(Config, tasks))
                *(unsigned *) place = (unsigned) number;
        else
                *(uint64_t *) place = number * setting->unit;
        return 0;
}

static int read_path(const Setting *setting, Jval value, char **place, sd_bus_error *reterr) {
        const char *path = jval_text(value);

        if (path && g_str_has_prefix(path, "~/"))
                *place = g_build_filename(g_get_home_dir(), path + 2, NULL);
        else if (path && path[0] == '/')
                *place = g_strdup(path);
        else
                return refuse(reterr, setting->table, setting->key, "an absolute path, or one that begins with ~/");
        return 0;
}

static int read_activation(Jval value, bool *ret_eager) {
        if (!jval_equals_text(value, "eager") && !jval_equals_text(value, "on-demand"))
                return -EINVAL;
        *ret_eager = jval_equals_text(value, "eager");
        return 0;
}

static int read_setting(Config *config, const Setting *setting, Jval value, sd_bus_error *reterr) {
        void *place = (char *) config + setting->offset;

        switch (setting->type) {
        case SETTING_BOOLEAN:
                return jval_boolean(value, place) < 0 ? refuse(reterr, setting->table, setting->key, "true or false") : 0;
        case SETTING_UINT:
                return read_uint(setting, value, place, reterr);
        case SETTING_PATH:
                return read_path(setting, value, place, reterr);
        case SETTING_RUNTIME:
                config->runtime = runtime_kind_from_string(jval_text(value));
                return config->runtime < 0 ? refuse(reterr, setting->table, setting->key, "\"node\", \"bun\" or \"auto\"") : 0;
        case SETTING_POSTURE:
                config->posture = posture_from_string(jval_text(value));
                return config->posture < 0 ? refuse(reterr, setting->table, setting->key,
                                                    "\"ask\", \"auto-review\", \"full-access\" or \"never\"") : 0;
        case SETTING_CONFIRM:
                config->confirm = confirm_method_from_string(jval_text(value));
                return config->confirm < 0 ? refuse(reterr, setting->table, setting->key,
                                                    "\"auto\", \"polkit\", \"approver\" or \"token\"") : 0;
        case SETTING_NETWORK:
                config->network = network_policy_from_string(jval_text(value));
                return config->network < 0 ? refuse(reterr, setting->table, setting->key, "\"ask\", \"deny\" or \"allow\"") : 0;
        case SETTING_ACTIVATION:
                return read_activation(value, place) < 0 ? refuse(reterr, setting->table, setting->key, ACTIVATION_WORDS) : 0;
        }
        g_assert_not_reached();
}

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

static int read_table(Config *config, const char *table, Jval object, sd_bus_error *reterr) {
        JIter iter = jval_iterate(object);
        Jval key, value;
        int r;

        if (!jval_is(object, J_OBJECT))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: '%s' must be a table.", CONFIG_NAME, table);

        while (jiter_next(&iter, &key, &value)) {
                const char *name = jval_text(key);
                const Setting *setting = name ? find_setting(table, name) : NULL;

                if (!setting)
                        return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: there is no setting '%s' in [%s].", CONFIG_NAME,
                                          name ?: "?", table);
                r = read_setting(config, setting, value, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* [plugins."<name>"]: config, a table that is judged when it is delivered (contract 4.11), and activation. */
static int check_plugin(const char *name, Jval object, sd_bus_error *reterr) {
        JIter iter = jval_iterate(object);
        Jval key, value;
        bool eager;

        if (!jval_is(object, J_OBJECT))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: [plugins.\"%s\"] must be a table.", CONFIG_NAME, name);

        while (jiter_next(&iter, &key, &value)) {
                if (jval_equals_text(key, "config") && jval_is(value, J_OBJECT))
                        continue;
                if (jval_equals_text(key, "activation") && read_activation(value, &eager) >= 0)
                        continue;
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                  "%s: [plugins.\"%s\"] takes 'config', a table, and 'activation', " ACTIVATION_WORDS ".",
                                  CONFIG_NAME, name);
        }
        return 0;
}

static int check_plugins(Jval object, sd_bus_error *reterr) {
        JIter iter = jval_iterate(object);
        Jval key, value;
        int r;

        while (jiter_next(&iter, &key, &value)) {
                r = check_plugin(jval_text(key) ?: "?", value, reterr);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int config_read(Config *config, Jval root, sd_bus_error *reterr) {
        JIter iter = jval_iterate(root);
        Jval key, value;
        int r;

        while (jiter_next(&iter, &key, &value)) {
                const char *table = jval_text(key);

                if (table && strcmp(table, "plugins") == 0)
                        r = check_plugins(value, reterr);
                else if (table && is_known_table(table))
                        r = read_table(config, table, value, reterr);
                else
                        r = errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: there is no table '%s'.", CONFIG_NAME, table ?: "?");
                if (r < 0)
                        return r;
        }
        if (!jval_is(jval_member(jval_member(root, "extension_host"), "runtime"), J_STRING) && config->bun && !config->node)
                config->runtime = RUNTIME_BUN;
        return 0;
}

static int config_read_file(CodewhaleHome *home, char **ret_text, size_t *ret_size, sd_bus_error *reterr) {
        _cleanup_close_ int directory = codewhale_home_open(home, HOME_ROOT);
        int r = directory < 0 ? directory : safe_read_at(directory, CONFIG_NAME, CONFIG_FILE_BYTES_MAX, ret_text, ret_size);

        if (r == -ENOENT) {
                *ret_text = g_strdup("");
                *ret_size = 0;
                return 0;
        }
        if (r < 0)
                return errors_set(reterr, ERROR_IO, "%s/%s can't be read: %s.", codewhale_home_get_path(home, HOME_ROOT), CONFIG_NAME,
                                  g_strerror(-r));
        return 0;
}

static int config_parse(CodewhaleHome *home, Config **ret, sd_bus_error *reterr) {
        g_autoptr(Config) config = config_new();
        g_autofree char *text = NULL;
        TomlError toml_error = {};
        JdocError error;
        size_t size;
        int r;

        r = config_read_file(home, &text, &size, reterr);
        if (r < 0)
                return r;
        if (toml_to_json(text, size, &config->text, &toml_error) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: line %zu, column %zu: %s.", CONFIG_NAME, toml_error.line,
                                  toml_error.column, toml_error.description);
        if (jdoc_parse(config->text, strlen(config->text), NULL, &config->doc, &error) < 0)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s: %s.", CONFIG_NAME, error.message);
        r = config_read(config, jdoc_root(config->doc), reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&config);
        return 0;
}

int config_load(Config *config, CodewhaleHome *home, sd_bus_error *reterr) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Config *fresh = NULL;
        int r;

        r = config_parse(home, &fresh, &error);
        if (r < 0) {
                g_free(config->error);
                config->error = g_strdup(error.message ?: g_strerror(-r));
                (void) sd_bus_error_copy(reterr, &error);
                return r;
        }

        config_clear(config);
        *config = *fresh;
        g_free(fresh);
        return 0;
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

bool config_is_eager(const Config *config, const char *plugin_name) {
        Jval plugins = jval_member(config->doc ? jdoc_root(config->doc) : (Jval) {}, "plugins");
        bool eager = config->eager;

        (void) read_activation(jval_member(jval_member(plugins, plugin_name), "activation"), &eager);
        return eager;
}

int config_for_plugin(const Config *config, const char *plugin_name, char **ret_json, sd_bus_error *reterr) {
        Jval table = config->doc ? jdoc_root(config->doc) : (Jval) {};
        const char *source;
        size_t size;

        table = jval_member(jval_member(jval_member(table, "plugins"), plugin_name), "config");
        source = jval_source(table, &size);
        if (!source) {
                *ret_json = g_strdup("{}");
                return 0;
        }
        if (size > PLUGIN_CONFIG_BYTES_MAX)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The configuration of plugin '%s' is over %zu bytes.", plugin_name,
                                  PLUGIN_CONFIG_BYTES_MAX);
        if (depth_of(table, PLUGIN_CONFIG_DEPTH_MAX + 1) > PLUGIN_CONFIG_DEPTH_MAX)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The configuration of plugin '%s' is over %u levels deep.",
                                  plugin_name, PLUGIN_CONFIG_DEPTH_MAX);

        *ret_json = g_strndup(source, size);
        return 0;
}
