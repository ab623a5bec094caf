/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "service/config-read.h"
#include "service/config.h"

#define CONFIG_NAME "config.toml"

Config *config_new(void) {
        Config *config = g_new0(Config, 1);

        config->runtime = RUNTIME_NODE;
        config->memory_bytes = HOST_MEMORY_BYTES;
        config->tasks = HOST_TASKS_MAX;
        config->idle_msec = HOST_IDLE_MSEC;
        config->posture = POSTURE_ASK;
        config->notify = true;
        config->web_fetch_msec = CORE_WEB_SECONDS_MAX * UINT64_C(1000);
        return config;
}

static void config_clear(Config *config) {
        g_clear_pointer(&config->node, g_free);
        g_clear_pointer(&config->bun, g_free);
        g_clear_pointer(&config->certificates, g_free);
        g_clear_pointer(&config->web_fetch_private, g_strfreev);
        g_clear_pointer(&config->guards, g_strfreev);
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

/* The one place where a text becomes a configuration; @file says what is wrong with it. */
static int config_parse(CodewhaleHome *home, PolicyFile *file, Config **ret, sd_bus_error *reterr) {
        g_autoptr(Config) config = config_new();
        g_autofree char *text = NULL, *words = NULL;
        size_t size;
        int r;

        r = config_read_file(home, &text, &size, reterr);
        if (r < 0)
                return r;
        if (policy_file_parse(file, text, size) >= 0)
                (void) config_read(config, file);
        if (file->document.error < 0) {
                policy_document_sort(&file->document);
                words = policy_document_words(&file->document);
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s", words);
        }

        config->text = g_steal_pointer(&file->json);
        config->doc = g_steal_pointer(&file->doc);
        *ret = g_steal_pointer(&config);
        return 0;
}

int config_load(Config *config, CodewhaleHome *home, sd_bus_error *reterr) {
        g_autofree char *path = g_build_filename(codewhale_home_get_path(home, HOME_ROOT), CONFIG_NAME, NULL);
        g_autoptr(PolicyFile) file = policy_file_new(path);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        Config *fresh = NULL;
        int r;

        file->has_secrets = true;
        r = config_parse(home, file, &fresh, &error);
        if (r < 0) {
                g_free(config->error);
                config->error = g_strdup(error.message ?: g_strerror(-r));
                (void) sd_bus_error_copy(reterr, &error);
                return r;
        }

        config_clear(config);
        *config = *fresh;
        config->good = true;
        g_free(fresh);
        return 0;
}

const char *config_get_unreadable(const Config *config) {
        return config->good ? NULL : config->error;
}

bool config_is_eager(const Config *config, const char *plugin_name) {
        Jval plugins = jval_member(config->doc ? jdoc_root(config->doc) : (Jval) {}, "plugins");
        bool eager = config->eager;

        (void) config_read_activation(jval_member(jval_member(plugins, plugin_name), "activation"), &eager);
        return eager;
}

int config_for_plugin(const Config *config, const char *plugin_name, char **ret_json, sd_bus_error *reterr) {
        Jval table = config_plugin_table(config->doc ? jdoc_root(config->doc) : (Jval) {}, plugin_name);
        g_autofree char *problem = config_plugin_table_problem(table);
        const char *source;
        size_t size;

        if (problem)
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "The configuration of plugin '%s' %s.", plugin_name, problem);
        source = jval_source(table, &size);
        *ret_json = source ? g_strndup(source, size) : g_strdup("{}");
        return 0;
}
