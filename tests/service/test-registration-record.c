/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "fixture.h"
#include "service/builtin-commands.h"
#include "service/plugin-set.h"
#include "service/registration-record.h"

/* A plugin that was active once, and what is known of it afterwards. */
typedef struct Fixture {
        char *folder, *file;
        CodewhaleHome *home;
        PluginSet *set;
        Plugin *plugin;
        Registry *registry;
        Owner *owner;
} Fixture;

static Owner *make_owner(const Fixture *fixture) {
        Owner *owner = NULL;

        g_assert_cmpint(owner_new(fixture->plugin, &owner), ==, 0);
        return owner;
}

static uint64_t propose(Fixture *fixture, Owner *owner, const char *kind, const char *spec) {
        const OwnerEntry *entry = owner_get_entry(owner, 0);
        g_autofree char *text = g_strdup_printf("{\"scope\":{\"path\":\"%s\",\"sha256\":\"%s\"},\"kind\":\"%s\",\"spec\":%s}",
                                                entry->path, entry->sha256, kind, spec);
        g_autofree char *refusal = NULL;
        g_autoptr(Jdoc) doc = NULL;
        uint64_t handle = 0;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        (void) registry_register(fixture->registry, owner, jdoc_root(doc), &handle, &refusal);
        g_assert_cmpstr(refusal, ==, NULL);
        return handle;
}

#define TOOL "{\"name\":\"probe_it\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\", \"maxProperties\":1e1}}"
#define OTHER_TOOL "{\"name\":\"probe_it\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}"
#define COMMAND "{\"name\":\"probe-it\",\"description\":\"d\",\"argument_hint\":\"h\"}"
#define HOOK "{\"name\":\"tools/pre-execute\",\"description\":\"label\"}"
#define SECTION "{\"name\":\"section\",\"description\":\"text \\u2603\"}"
#define TEMPLATE "{\"name\":\"template\",\"description\":\"in {{cwd}}\"}"

static void register_all(Fixture *fixture, Owner *owner) {
        (void) propose(fixture, owner, "tool", TOOL);
        (void) propose(fixture, owner, "command", COMMAND);
        (void) propose(fixture, owner, "hook", HOOK);
        (void) propose(fixture, owner, "prompt_section", SECTION);
        (void) propose(fixture, owner, "prompt_template", TEMPLATE);
}

static void make_active(Owner *owner) {
        OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(owner, i)); i++)
                owner_entry_set_state(entry, OWNER_ACTIVE, NULL);
        owner_set_state(owner, OWNER_ACTIVE, NULL);
}

/* Ends the activation, as when the service stops. */
static void end_owner(Fixture *fixture) {
        owner_set_state(fixture->owner, OWNER_REVOKED, "test");
        registry_withdraw(fixture->registry, fixture->owner, NULL);
        fixture->owner = owner_unref(fixture->owner);
}

static void fixture_up(Fixture *fixture, const void *data) {
        const PluginSetOptions options = { .extension_host = true };
        g_autofree char *bundle = NULL, *home = NULL, *name = NULL;

        (void) data;
        fixture->folder = fixture_new_folder();
        home = g_build_filename(fixture->folder, "home", NULL);
        bundle = g_build_filename(home, "plugins", "one", NULL);
        fixture_bundle(bundle, "one");
        g_assert_cmpint(codewhale_home_new(home, &fixture->home, NULL), ==, 0);
        fixture->set = plugin_set_new(fixture->home, &options);
        g_assert_cmpint(plugin_set_reload(fixture->set, NULL), ==, 0);
        g_assert_cmpint(plugin_set_find(fixture->set, "one", &fixture->plugin, NULL), ==, 0);
        fixture->registry = registry_new(NULL);
        g_assert_cmpint(registry_know_commands(fixture->registry, builtin_commands), ==, 0);
        name = g_strconcat(plugin_get_data_name(fixture->plugin), ".json", NULL);
        fixture->file = g_build_filename(codewhale_home_get_path(fixture->home, HOME_RECORDS), name, NULL);

        fixture->owner = make_owner(fixture);
        register_all(fixture, fixture->owner);
        make_active(fixture->owner);
        registry_announce(fixture->registry, fixture->owner);
        g_assert_cmpint(registration_record_write(fixture->home, fixture->registry, fixture->owner, "{}"), ==, 0);
        end_owner(fixture);
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        fixture->registry = registry_free(fixture->registry);
        fixture->owner = owner_unref(fixture->owner);
        fixture->set = plugin_set_free(fixture->set);
        fixture->home = codewhale_home_unref(fixture->home);
        g_free(fixture->file);
        fixture_remove(fixture->folder);
}

/* Returns what registration_record_list() did; the reason goes to the log. */
static int list(Fixture *fixture, const char *config) {
        g_autofree char *reason = NULL;
        int n;

        owner_unref(fixture->owner);
        fixture->owner = make_owner(fixture);
        n = registration_record_list(fixture->home, fixture->registry, fixture->owner, config, &reason);
        g_assert_cmpint(n > 0, ==, reason == NULL);
        g_test_message("%s", reason ?: "listed");
        return n;
}

typedef struct Search {
        const char *name;
        Registration *found;
} Search;

static void compare(Registration *registration, void *userdata) {
        Search *search = userdata;

        if (strcmp(registration->name, search->name) == 0)
                search->found = registration;
}

/* The usable one of that name. */
static Registration *find(Fixture *fixture, RegistrationKind kind, const char *name) {
        Search search = { .name = name };

        registry_foreach(fixture->registry, kind, compare, &search);
        return search.found;
}

static void test_listed_and_confirmed(Fixture *fixture, const void *data) {
        const Registration *tool;
        unsigned added = 99;

        (void) data;
        g_assert_cmpint(list(fixture, "{}"), ==, 6);
        tool = find(fixture, REGISTRATION_TOOL, "probe_it");
        g_assert_nonnull(tool);
        /* Byte for byte: a number is not written anew. */
        g_assert_cmpstr(tool->schema_text, ==, "{\"type\":\"object\", \"maxProperties\":1e1}");
        g_assert_nonnull(find(fixture, REGISTRATION_COMMAND, "probe-it"));
        g_assert_cmpuint(section_registry_length(registry_get_sections(fixture->registry)), ==, 2);

        /* The activation says the same: the same handles, and nothing twice. */
        g_assert_cmpuint(propose(fixture, fixture->owner, "tool", TOOL), ==, tool->handle);
        (void) propose(fixture, fixture->owner, "command", COMMAND);
        (void) propose(fixture, fixture->owner, "hook", HOOK);
        (void) propose(fixture, fixture->owner, "prompt_section", SECTION);
        (void) propose(fixture, fixture->owner, "prompt_template", TEMPLATE);
        g_assert_cmpuint(registry_settle(fixture->registry, fixture->owner, &added), ==, 5);
        g_assert_cmpuint(added, ==, 0);
        make_active(fixture->owner);
        g_assert_true(find(fixture, REGISTRATION_TOOL, "probe_it") == tool);
        g_assert_cmpuint(section_registry_length(registry_get_sections(fixture->registry)), ==, 2);
}

static void test_different_replaces(Fixture *fixture, const void *data) {
        g_autoptr(Registration) old = NULL;
        unsigned added = 0;

        (void) data;
        g_assert_cmpint(list(fixture, "{}"), ==, 6);
        old = registration_ref(find(fixture, REGISTRATION_TOOL, "probe_it"));
        g_assert_cmpuint(propose(fixture, fixture->owner, "tool", OTHER_TOOL), !=, old->handle);
        /* The new one can't be used before the activation has succeeded. */
        g_assert_null(find(fixture, REGISTRATION_TOOL, "probe_it"));
        g_assert_cmpuint(registry_settle(fixture->registry, fixture->owner, &added), ==, 0);
        g_assert_cmpuint(added, ==, 1);
        make_active(fixture->owner);
        g_assert_nonnull(find(fixture, REGISTRATION_TOOL, "probe_it"));
        g_assert_null(find(fixture, REGISTRATION_COMMAND, "probe-it"));
        g_assert_false(registration_is_usable(old));
        g_assert_nonnull(old->gone);
        g_assert_cmpuint(section_registry_length(registry_get_sections(fixture->registry)), ==, 0);
}

static void assert_nothing(Fixture *fixture, const char *config) {
        g_assert_cmpint(list(fixture, config), ==, 0);
        for (int kind = 0; kind < _REGISTRATION_KIND_MAX; kind++)
                g_assert_cmpuint(registry_count(fixture->registry, kind, NULL), ==, 0);
        g_assert_cmpuint(section_registry_length(registry_get_sections(fixture->registry)), ==, 0);
}

static void test_other_settings(Fixture *fixture, const void *data) {
        (void) data;
        assert_nothing(fixture, "{\"a\":1}");
        registration_record_forget(fixture->home, fixture->plugin);
        assert_nothing(fixture, "{}");
}

/* What is only listed takes no more memory than its text: the schema is compiled for the first call. */
static void test_schema_waits(Fixture *fixture, const void *data) {
        Registration *tool;
        const Schema *schema = NULL;
        g_autoptr(Jdoc) doc = NULL;

        (void) data;
        g_assert_cmpint(list(fixture, "{}"), ==, 6);
        tool = find(fixture, REGISTRATION_TOOL, "probe_it");
        g_assert_null(tool->schema);
        g_assert_cmpint(registration_use_schema(tool, &schema, NULL), ==, 0);
        g_assert_true(schema == tool->schema);
        g_assert_cmpint(jdoc_parse("[]", 2, NULL, &doc, NULL), ==, 0);
        g_assert_cmpint(schema_validate(schema, jdoc_root(doc)), ==, SCHEMA_INVALID);

        g_assert_cmpint(registration_use_schema(find(fixture, REGISTRATION_COMMAND, "probe-it"), &schema, NULL), ==, 0);
        g_assert_null(schema);
}

/* It can't happen to a record of this version; if it does, the call is refused in words. */
static void test_schema_broken(Fixture *fixture, const void *data) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const Schema *schema = NULL;
        Registration *tool;

        (void) data;
        g_assert_cmpint(list(fixture, "{}"), ==, 6);
        tool = find(fixture, REGISTRATION_TOOL, "probe_it");
        g_free(tool->schema_text);
        tool->schema_text = g_strdup("{\"type\":\"strange\"}");
        g_assert_cmpint(registration_use_schema(tool, &schema, &error), <, 0);
        g_assert_cmpstr(error.name, ==, ERROR_EXECUTION_FAILED);
        g_assert_nonnull(strstr(error.message, "'probe_it'"));
        g_assert_null(schema);
}

/* Cut anywhere, or with any byte changed: never half a list. */
static void test_damage(Fixture *fixture, const void *data) {
        g_autofree char *good = NULL;
        size_t size, step;

        (void) data;
        g_assert_true(g_file_get_contents(fixture->file, &good, &size, NULL));
        step = size / 97 + 1;
        for (size_t i = 0; i < size; i += step) {
                g_autofree char *changed = g_memdup2(good, size);

                changed[i] ^= 1;
                g_assert_true(g_file_set_contents(fixture->file, good, (gssize) i, NULL));
                assert_nothing(fixture, "{}");
                g_assert_true(g_file_set_contents(fixture->file, changed, (gssize) size, NULL));
                assert_nothing(fixture, "{}");
        }
        g_assert_true(g_file_set_contents(fixture->file, good, (gssize) size, NULL));
        g_assert_cmpint(list(fixture, "{}"), ==, 6);
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        ADD("/registration-record/listed-and-confirmed", test_listed_and_confirmed);
        ADD("/registration-record/different-replaces", test_different_replaces);
        ADD("/registration-record/other-settings", test_other_settings);
        ADD("/registration-record/schema-waits", test_schema_waits);
        ADD("/registration-record/schema-broken", test_schema_broken);
        ADD("/registration-record/damage", test_damage);
        return g_test_run();
}
