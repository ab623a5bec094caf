/* SPDX-License-Identifier: MIT */
#include <glib/gstdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/config.h"

typedef struct Fixture {
        char *directory;
        CodewhaleHome *home;
        Config *config;
} Fixture;

static void fixture_up(Fixture *fixture, const void *data) {
        (void) data;
        fixture->directory = g_dir_make_tmp("config-XXXXXX", NULL);
        g_assert_cmpint(codewhale_home_new(fixture->directory, &fixture->home, NULL), ==, 0);
        fixture->config = config_new();
}

static void fixture_down(Fixture *fixture, const void *data) {
        g_autofree char *file = g_build_filename(fixture->directory, "config.toml", NULL);

        (void) data;
        (void) g_unlink(file);
        g_assert_cmpint(g_rmdir(fixture->directory), ==, 0);
        fixture->home = codewhale_home_unref(fixture->home);
        fixture->config = config_free(fixture->config);
        g_free(fixture->directory);
}

static int load(Fixture *fixture, const char *text, sd_bus_error *reterr) {
        g_autofree char *file = g_build_filename(fixture->directory, "config.toml", NULL);

        g_assert_true(g_file_set_contents(file, text, -1, NULL));
        return config_load(fixture->config, fixture->home, reterr);
}

static void test_missing(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(config_load(fixture->config, fixture->home, NULL), ==, 0);
        g_assert_false(fixture->config->extension_host);
        g_assert_cmpint(fixture->config->runtime, ==, RUNTIME_NODE);
        g_assert_cmpint(fixture->config->posture, ==, POSTURE_ASK);
        g_assert_null(fixture->config->error);
}

static void test_full(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(load(fixture,
                             "[features]\nextension_host = true\n"
                             "[extension_host]\nnode = \"/opt/node\"\nmemory_mib = 256\ntasks = 32\nrequire_memory_limit = true\n"
                             "[policy]\nposture = \"never\"\n[approvals]\ntimeout_sec = 60\n"
                             "[plugins.\"greeting\".config]\ngreeting = \"Hallo\"\nbig = 9007199254740993\n", NULL), ==, 0);
        g_assert_true(fixture->config->extension_host);
        g_assert_cmpstr(fixture->config->node, ==, "/opt/node");
        g_assert_cmpuint(fixture->config->memory_bytes, ==, MIB(256));
        g_assert_cmpuint(fixture->config->tasks, ==, 32);
        g_assert_true(fixture->config->require_memory_limit);
        g_assert_cmpint(fixture->config->posture, ==, POSTURE_NEVER);
        g_assert_cmpuint(fixture->config->approval_timeout_msec, ==, 60000);
}

static void test_only_bun(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(load(fixture, "[extension_host]\nbun = \"/opt/bun\"\n", NULL), ==, 0);
        g_assert_cmpint(fixture->config->runtime, ==, RUNTIME_BUN);
        g_assert_cmpint(load(fixture, "[extension_host]\nbun = \"/opt/bun\"\nnode = \"/opt/node\"\n", NULL), ==, 0);
        g_assert_cmpint(fixture->config->runtime, ==, RUNTIME_NODE);
}

/* Bad files, and what the error must say: where, and what is expected there. */
static const struct {
        const char *name, *text, *says;
} bad[] = {
        { "syntax", "a = = 1\n", "config.toml:1:5: this is not TOML" },
        { "syntax-line", "[features]\nextension_host = true\nx = [\n", "config.toml:3:7: this is not TOML" },
        { "not-utf8", "[features]\n# \xff\n", "config.toml:2:" },
        { "duplicate", "[features]\nextension_host = true\nextension_host = false\n", "config.toml:3:" },
        { "infinity", "a = 1\nb = inf\n", "config.toml:2:5: infinities" },
        { "unknown-table", "\n[featurez]\nextension_host = true\n", "config.toml:2:2: there is no table 'featurez'" },
        { "stray-value", "features = true\n", "config.toml:1:12: \"features\" must be a table" },
        { "unknown-key", "[features]\n  extension_hosts = true\n", "config.toml:2:3: there is no setting 'extension_hosts' in [features]" },
        { "type", "[features]\nextension_host = \"yes\"\n", "config.toml:2:18: [features] extension_host must be true or false" },
        { "runtime-word", "[extension_host]\n\nruntime = \"deno\"\n", "config.toml:3:11: [extension_host] runtime must be \"node\"" },
        { "runtime-type", "[extension_host]\nruntime = 5\n", "config.toml:2:11: [extension_host] runtime" },
        { "relative-path", "[extension_host]\nnode = \"bin/node\"\n", "config.toml:2:8: [extension_host] node must be an absolute path" },
        { "range", "[extension_host]\nmemory_mib = 1\n", "config.toml:2:14: [extension_host] memory_mib must be a whole number from 64" },
        { "huge", "[extension_host]\ntasks = 9223372036854775807\n", "config.toml:2:9: [extension_host] tasks" },
        { "negative", "[extension_host]\ntasks = -5\n", "config.toml:2:9: [extension_host] tasks" },
        { "fraction", "[approvals]\ntimeout_sec = 1.5\n", "config.toml:2:15: [approvals] timeout_sec" },
        { "activation", "[extension_host]\nactivation = \"lazy\"\n", "config.toml:2:14: [extension_host] activation must be \"on-demand\"" },
        { "posture", "[policy]\nposture = \"relaxed\"\n", "config.toml:2:11: [policy] posture must be \"ask\"" },
        { "confirm", "[trust]\nconfirm = \"no\"\n", "config.toml:2:11: [trust] confirm must be \"auto\"" },
        { "network", "[install]\nnetwork = true\n", "config.toml:2:11: [install] network must be \"ask\"" },
        { "web-fetch", "[core]\nweb_fetch = 1\n", "config.toml:2:13: [core] web_fetch must be true or false" },
        { "web-sec-none", "[core]\nweb_fetch_sec = 0\n", "config.toml:2:17: [core] web_fetch_sec must be a whole number from 1 to 60" },
        { "web-sec-more", "[core]\nweb_fetch_sec = 61\n", "config.toml:2:17: [core] web_fetch_sec must be a whole number from 1 to 60" },
        { "web-private-type", "[core]\nweb_fetch_private = true\n", "config.toml:2:21: [core] web_fetch_private must be a list" },
        { "web-private-name", "[core]\nweb_fetch_private = [\n  \"10.0.0.0/8\",\n  \"intranet\",\n]\n",
          "config.toml:4:3: [core] web_fetch_private must be a list of addresses like" },
        { "web-private-bits", "[core]\nweb_fetch_private = [\"10.0.0.1/8\"]\n", "config.toml:2:22: [core] web_fetch_private" },
        { "plugin-type", "[plugins]\nx = 5\n", "config.toml:2:5: [plugins.\"x\"] must be a table" },
        { "plugins-type", "plugins = 5\n", "config.toml:1:11: \"plugins\" must be a table" },
        { "plugin-stray-key", "[plugins.\"x\"]\nenabled = true\n[plugins.\"x\".config]\n", "config.toml:2:1: [plugins.\"x\"] takes 'config'" },
        { "plugin-activation", "[plugins.x]\nactivation = 1\n", "config.toml:2:1: [plugins.\"x\"] takes 'config'" },
        { "array-of-tables", "[[features]]\nextension_host = true\n", "config.toml:1:1: \"features\" must be a table" },
        { "several", "[policy]\nposture = 1\n[trust]\nconfirm = 2\n[core]\nx = 1\n", "config.toml:2:11: [policy] posture must be \"ask\", "
          "\"auto-review\", \"full-access\" or \"never\". (2 more)" },
};

static void test_bad(Fixture *fixture, const void *data) {
        size_t i = GPOINTER_TO_SIZE(data);
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        g_assert_cmpint(load(fixture, "[features]\nextension_host = true\n", NULL), ==, 0);
        g_assert_cmpint(load(fixture, bad[i].text, &error), <, 0);
        g_test_message("%s", error.message);
        g_assert_nonnull(strstr(error.message, bad[i].says));
        /* The last good one stays in force, and the mistake is kept for those who ask. */
        g_assert_true(fixture->config->extension_host);
        g_assert_cmpstr(fixture->config->error, ==, error.message);
        g_assert_cmpint(load(fixture, "", NULL), ==, 0);
        g_assert_null(fixture->config->error);
}

/* Settings may hold secrets: an error never quotes the file. */
static void test_no_values_in_errors(Fixture *fixture, const void *data) {
        static const char *const secret[] = {
                "[policy]\nposture = \"sk-secret\"\n", "[extension_host]\nnode = \"sk-secret\"\n", "[trust]\nconfirm = sk-secret\n",
                "[plugins.a.config]\ntoken = \"sk-secret\"\ntoken = \"sk-secret\"\n", "[core]\nweb_fetch_private = [\"sk-secret\"]\n",
                "[plugins.a.config]\ntoken = \"sk-secret\n",
        };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) data;
        g_assert_cmpint(load(fixture, "[extension_host]\nnode = \"sk-secret\" \"sk-secret\"\n", &error), <, 0);
        g_assert_null(strstr(error.message, "sk-secret"));

        for (size_t i = 0; i < G_N_ELEMENTS(secret); i++) {
                g_auto(sd_bus_error) other = SD_BUS_ERROR_NULL;

                g_assert_cmpint(load(fixture, secret[i], &other), <, 0);
                g_assert_null(strstr(other.message, "sk-secret"));
        }
}

/* The whole file is read before anything of it counts. */
static void test_all_or_nothing(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpint(load(fixture, "[policy]\nposture = \"never\"\n[core]\nweb_fetch = true\nweb_fetch_sec = 7\n"
                             "web_fetch_private = [\"10.0.0.0/8\"]\n", NULL), ==, 0);
        g_assert_cmpint(load(fixture, "[policy]\nposture = \"full-access\"\n[core]\nweb_fetch = false\n[trust]\nconfirm = 1\n", NULL), <, 0);
        g_assert_cmpint(fixture->config->posture, ==, POSTURE_NEVER);
        g_assert_true(fixture->config->web_fetch);
        g_assert_cmpuint(fixture->config->web_fetch_msec, ==, 7000);
        g_assert_cmpstr(fixture->config->web_fetch_private[0], ==, "10.0.0.0/8");
        g_assert_cmpint(load(fixture, "", NULL), ==, 0);
        g_assert_false(fixture->config->web_fetch);
        g_assert_cmpuint(fixture->config->web_fetch_msec, ==, 60000);
        g_assert_null(fixture->config->web_fetch_private);
}

static void test_plugin_config(Fixture *fixture, const void *data) {
        g_autofree char *json = NULL, *none = NULL, *large = NULL, *text = NULL;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) data;
        g_assert_cmpint(load(fixture, "[plugins.\"a\".config]\nn = 9007199254740993\n", NULL), ==, 0);
        g_assert_cmpint(config_for_plugin(fixture->config, "a", &json, NULL), ==, 0);
        g_assert_nonnull(strstr(json, "9007199254740993"));
        g_assert_cmpint(config_for_plugin(fixture->config, "b", &none, NULL), ==, 0);
        g_assert_cmpstr(none, ==, "{}");

        large = g_strnfill(PLUGIN_CONFIG_BYTES_MAX, 'x');
        text = g_strdup_printf("[plugins.\"a\".config]\nn = \"%s\"\n", large);
        g_assert_cmpint(load(fixture, text, NULL), ==, 0);
        g_clear_pointer(&none, g_free);
        g_assert_cmpint(config_for_plugin(fixture->config, "a", &none, &error), <, 0);
        g_assert_nonnull(strstr(error.message, "'a'"));
}

/* Each limit at its edge, and one above: the message names the plugin and the rule, and nothing of the table is handed over. */
static void test_plugin_config_limits(Fixture *fixture, const void *data) {
        for (unsigned more = 0; more <= 1; more++) {
                g_autofree char *filler = g_strnfill(PLUGIN_CONFIG_BYTES_MAX - strlen("{\"n\":\"\"}") + more, 'x');
                g_autofree char *open = g_strnfill(PLUGIN_CONFIG_DEPTH_MAX - 1 + more, '['), *close = g_strnfill(PLUGIN_CONFIG_DEPTH_MAX - 1 + more, ']');
                g_autofree char *size = g_strdup_printf("[plugins.a.config]\nn = \"%s\"\n", filler);
                g_autofree char *depth = g_strdup_printf("[plugins.a.config]\nn = %s1%s\n[plugins.b.config]\nn = 1\n", open, close);
                const struct {
                        const char *text, *rule;
                } cases[] = { { size, "over 16384 bytes" }, { depth, "over 16 levels deep" } };

                (void) data;
                for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                        g_autofree char *json = NULL, *other = NULL;

                        g_assert_cmpint(load(fixture, cases[i].text, NULL), ==, 0);
                        g_assert_cmpint(config_for_plugin(fixture->config, "a", &json, &error) < 0, ==, more > 0);
                        g_assert_true((json == NULL) == (more > 0));
                        if (more > 0) {
                                g_assert_nonnull(strstr(error.message, "'a'"));
                                g_assert_nonnull(strstr(error.message, cases[i].rule));
                        }
                        g_assert_cmpint(config_for_plugin(fixture->config, "b", &other, NULL), ==, 0);
                }
        }
}

/* JSON has no dates: a plugin would get a text where its author wrote none. */
static void test_plugin_config_dates(Fixture *fixture, const void *data) {
        static const struct {
                const char *value;
                bool is_date;
        } cases[] = {
                { "2026-12-01T10:00:00Z", true }, { "2026-12-01T10:00:00", true }, { "2026-12-01", true }, { "10:00:00", true },
                { "0001-01-01", true }, { "[ 1, [ 2026-12-01 ] ]", true }, { "{ a = { b = 10:00:00.5 } }", true },
                { "\"2026-12-01\"", false }, { "\"\\u0032026-12-01\"", false }, { "'\\u00326'", false }, { "\"\\u0003\"", false }, { "\"\"", false },
        };

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("[plugins.a.config]\nfirst = 1\nn = %s\n[plugins.b.config]\nn = 1\n", cases[i].value);
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autofree char *json = NULL, *other = NULL;

                g_test_message("%s", cases[i].value);
                g_assert_cmpint(load(fixture, text, NULL), ==, 0);
                g_assert_cmpint(config_for_plugin(fixture->config, "a", &json, &error) < 0, ==, cases[i].is_date);
                g_assert_true((json == NULL) == cases[i].is_date);
                if (cases[i].is_date)
                        g_assert_cmpstr(error.message, ==,
                                        "The configuration of plugin 'a' holds a date or time, which JSON has none of: write it as text, in quotes.");
                g_assert_cmpint(config_for_plugin(fixture->config, "b", &other, NULL), ==, 0);
        }
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/config/missing-file-means-defaults", test_missing);
        ADD("/config/every-setting", test_full);
        ADD("/config/only-bun-configured", test_only_bun);
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *path = g_strdup_printf("/config/bad/%s", bad[i].name);

                g_test_add(path, Fixture, GSIZE_TO_POINTER(i), fixture_up, test_bad, fixture_down);
        }
        ADD("/config/errors-never-quote-values", test_no_values_in_errors);
        ADD("/config/all-or-nothing", test_all_or_nothing);
        ADD("/config/plugin-config", test_plugin_config);
        ADD("/config/plugin-config-limits", test_plugin_config_limits);
        ADD("/config/plugin-config-dates", test_plugin_config_dates);
        return g_test_run();
}
