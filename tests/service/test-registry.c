/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "fixture.h"
#include "service/plugin-set.h"
#include "service/registry.h"

/* Owners of real plugins: two bundles in the workspace of a home that nobody writes to. */
typedef struct Fixture {
        char *folder;
        CodewhaleHome *home;
        PluginSet *set;
        Registry *registry;
        Owner *one, *two;
        unsigned changes[_REGISTRATION_KIND_MAX];
} Fixture;

static void on_changed(RegistrationKind kind, void *userdata) {
        ((Fixture *) userdata)->changes[kind]++;
}

static void on_prompt_changed(void *userdata) {
        (void) userdata;
}

static const RegistryEvents events = { .changed = on_changed, .prompt_changed = on_prompt_changed };

static Owner *make_owner(Fixture *fixture, const char *name) {
        Plugin *plugin = NULL;
        Owner *owner = NULL;

        g_assert_cmpint(plugin_set_find(fixture->set, name, &plugin, NULL), ==, 0);
        g_assert_cmpint(owner_new(plugin, &owner), ==, 0);
        return owner;
}

static void make_active(Owner *owner) {
        OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(owner, i)); i++)
                owner_entry_set_state(entry, OWNER_ACTIVE, NULL);
        owner_set_state(owner, OWNER_ACTIVE, NULL);
}

static void fixture_up(Fixture *fixture, const void *data) {
        const PluginSetOptions options = { .extension_host = true };
        g_autofree char *one = NULL, *two = NULL, *home = NULL;

        (void) data;
        fixture->folder = fixture_new_folder();
        home = g_build_filename(fixture->folder, "home", NULL);
        one = g_build_filename(home, "plugins", "one", NULL);
        two = g_build_filename(home, "plugins", "two", NULL);
        fixture_bundle(one, "one");
        fixture_bundle(two, "two");
        /* One has two entries. */
        fixture_write(one, "native/more.mjs", "export const apply = () => {}\n", -1);
        fixture_write(one, "plugin.json",
                      "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"one\",\"version\":\"1.0.0\","
                      "\"extensions\":{\"net.codewhale\":{\"native\":{\"paths\":[\"native/main.mjs\",\"native/more.mjs\"]}}}}", -1);
        g_assert_cmpint(codewhale_home_new(home, &fixture->home, NULL), ==, 0);
        fixture->set = plugin_set_new(fixture->home, &options);
        g_assert_cmpint(plugin_set_reload(fixture->set, NULL), ==, 0);
        fixture->registry = registry_new();
        registry_set_events(fixture->registry, &events, fixture);
        fixture->one = make_owner(fixture, "one");
        fixture->two = make_owner(fixture, "two");
}

static void fixture_down(Fixture *fixture, const void *data) {
        (void) data;
        fixture->registry = registry_free(fixture->registry);
        fixture->one = owner_unref(fixture->one);
        fixture->two = owner_unref(fixture->two);
        fixture->set = plugin_set_free(fixture->set);
        fixture->home = codewhale_home_unref(fixture->home);
        fixture_remove(fixture->folder);
}

/* Registers as a message would; returns the handle, or 0 and the refusal. */
static uint64_t propose(Fixture *fixture, Owner *owner, size_t entry_index, const char *kind, const char *spec, char **ret_refusal) {
        const OwnerEntry *entry = owner_get_entry(owner, entry_index);
        g_autofree char *text = g_strdup_printf("{\"scope\":{\"path\":\"%s\",\"sha256\":\"%s\"},\"kind\":\"%s\",\"spec\":%s}",
                                                entry->path, entry->sha256, kind, spec);
        g_autoptr(Jdoc) doc = NULL;
        uint64_t handle = 0;
        int r;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        r = registry_register(fixture->registry, owner, jdoc_root(doc), &handle, ret_refusal);
        g_assert_cmpint(r < 0, ==, *ret_refusal != NULL);
        return r < 0 ? 0 : handle;
}

static uint64_t tool(Fixture *fixture, Owner *owner, size_t entry, const char *name) {
        g_autofree char *spec = g_strdup_printf("{\"name\":\"%s\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", name);
        g_autofree char *refusal = NULL;

        return propose(fixture, owner, entry, "tool", spec, &refusal);
}

static uint64_t command(Fixture *fixture, Owner *owner, const char *name) {
        g_autofree char *spec = g_strdup_printf("{\"name\":\"%s\",\"description\":\"d\"}", name), *refusal = NULL;

        return propose(fixture, owner, 0, "command", spec, &refusal);
}

#define assert_refused(fixture, owner, kind, spec, word)                                    \
        do {                                                                                \
                g_autofree char *said = NULL;                                               \
                g_assert_cmpuint(propose(fixture, owner, 0, kind, spec, &said), ==, 0);     \
                g_test_message("%s", said);                                                 \
                g_assert_nonnull(strstr(said, word));                                       \
        } while (0)

static void test_usable_when_active(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "probe_a"), >, 0);
        g_assert_null(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
        make_active(fixture->one);
        registry_announce(fixture->registry, fixture->one);
        g_assert_nonnull(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
        g_assert_nonnull(registry_find(fixture->registry, REGISTRATION_TOOL, "PROBE_A"));
        registry_withdraw(fixture->registry, fixture->one, NULL);
        g_assert_null(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
        g_assert_cmpuint(registry_count(fixture->registry, REGISTRATION_TOOL, NULL), ==, 0);
}

static void test_names(Fixture *fixture, const void *data) {
        static const char *const refused[] = {
                "", "1abc", "_abc", "a b", "mcp_x", "MCP_x", "ext_x", "read", "Read", "read_x", "list_x", "get_x", "Bash", "web_fetch",
                "exec_wait", "execute_tools", "request_user_input", "File", "tasks",
        };
        g_autofree char *longest = g_strnfill(TOOL_NAME_CHARS_MAX, 'z'), *longer = g_strnfill(TOOL_NAME_CHARS_MAX + 1, 'z');

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_test_message("%s", refused[i]);
                g_assert_cmpuint(tool(fixture, fixture->one, 0, refused[i]), ==, 0);
        }
        g_assert_cmpuint(tool(fixture, fixture->one, 0, longer), ==, 0);
        g_assert_cmpuint(tool(fixture, fixture->one, 0, longest), >, 0);
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "load_workspace_dependencies"), >, 0);
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "slow_wait"), >, 0);
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "probe_read"), >, 0);
}

static void test_other_plugin_keeps_its_name(Fixture *fixture, const void *data) {
        (void) data;
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "Shared_Name"), >, 0);
        assert_refused(fixture, fixture->two, "tool", "{\"name\":\"shared_name\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}",
                       "already registered");
        /* Tools and commands are separate name spaces. */
        g_assert_cmpuint(command(fixture, fixture->two, "shared_name"), >, 0);
        assert_refused(fixture, fixture->one, "command", "{\"name\":\"shared_name\",\"description\":\"d\"}", "already registered");
}

static void test_again(Fixture *fixture, const void *data) {
        uint64_t first, second, sibling;

        (void) data;
        first = tool(fixture, fixture->one, 0, "probe_a");
        second = tool(fixture, fixture->one, 0, "probe_a");
        g_assert_cmpuint(second, >, first);
        make_active(fixture->one);
        g_assert_cmpuint(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a")->handle, ==, second);

        /* An old handle takes nothing away that is newer. */
        registry_unregister(fixture->registry, fixture->one, first);
        g_assert_cmpuint(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a")->handle, ==, second);

        /* A sibling entry may hold the same name: both live, and the name is ambiguous until one goes. */
        sibling = tool(fixture, fixture->one, 1, "probe_a");
        g_assert_cmpuint(sibling, >, second);
        g_assert_null(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
        registry_withdraw(fixture->registry, fixture->one, owner_get_entry(fixture->one, 1));
        g_assert_cmpuint(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a")->handle, ==, second);
}

static void test_foreign_owner(Fixture *fixture, const void *data) {
        uint64_t handle = tool(fixture, fixture->one, 0, "probe_a");

        (void) data;
        make_active(fixture->one);
        registry_unregister(fixture->registry, fixture->two, handle);
        g_assert_nonnull(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
        registry_unregister(fixture->registry, fixture->one, handle);
        registry_unregister(fixture->registry, fixture->one, handle);
        g_assert_null(registry_find(fixture->registry, REGISTRATION_TOOL, "probe_a"));
}

static void test_stale_owner_object(Fixture *fixture, const void *data) {
        g_auto(JWriter) writer = {};
        g_autofree char *text = NULL, *other_generation = NULL;
        g_autoptr(Jdoc) doc = NULL, stale = NULL;
        g_autoptr(Owner) newer = make_owner(fixture, "one");

        (void) data;
        jwriter_init(&writer);
        owner_write(fixture->one, &writer);
        text = jwriter_steal(&writer, NULL);
        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        g_assert_true(owner_matches(fixture->one, jdoc_root(doc)));
        g_assert_false(owner_matches(newer, jdoc_root(doc)));
        g_assert_false(owner_matches(fixture->two, jdoc_root(doc)));
        g_assert_cmpuint(owner_get_generation(newer), >, owner_get_generation(fixture->one));

        other_generation = g_strdup(text);
        *strstr(other_generation, "owner_token\":\"") = 'O';
        g_assert_cmpint(jdoc_parse(other_generation, strlen(other_generation), NULL, &stale, NULL), ==, 0);
        g_assert_false(owner_matches(fixture->one, jdoc_root(stale)));
}

static void test_withdrawn_owner(Fixture *fixture, const void *data) {
        (void) data;
        owner_set_state(fixture->one, OWNER_REVOKED, "disabled");
        assert_refused(fixture, fixture->one, "tool", "{\"name\":\"late\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", "live");
}

static void test_tool_limit(Fixture *fixture, const void *data) {
        (void) data;
        for (unsigned i = 0; i < TOOLS_PER_OWNER_MAX; i++) {
                g_autofree char *name = g_strdup_printf("probe_%u", i);

                g_assert_cmpuint(tool(fixture, fixture->one, 0, name), >, 0);
        }
        assert_refused(fixture, fixture->one, "tool", "{\"name\":\"one_more\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", "128");
        g_assert_cmpuint(tool(fixture, fixture->two, 0, "of_another"), >, 0);
}

static void test_command_rules(Fixture *fixture, const void *data) {
        static const char *const bad[] = {
                "{\"name\":\"Upper\",\"description\":\"d\"}", "{\"name\":\"1a\",\"description\":\"d\"}",
                "{\"name\":\"a b\",\"description\":\"d\"}", "{\"name\":\"ok\",\"description\":\" \"}",
                "{\"name\":\"ok\",\"description\":\"two\\nlines\"}", "{\"name\":\"ok\",\"description\":\"d\",\"argument_hint\":\"\"}",
                "{\"name\":\"ok\",\"description\":\"d\",\"argument_hint\":\"a\\u0007b\"}",
        };

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autofree char *refusal = NULL;

                g_test_message("%s", bad[i]);
                g_assert_cmpuint(propose(fixture, fixture->one, 0, "command", bad[i], &refusal), ==, 0);
        }
        for (unsigned i = 0; i < COMMANDS_PER_OWNER_MAX; i++) {
                g_autofree char *name = g_strdup_printf("do-%u", i);

                g_assert_cmpuint(command(fixture, fixture->one, name), >, 0);
        }
        assert_refused(fixture, fixture->one, "command", "{\"name\":\"one-more\",\"description\":\"d\"}", "64");
}

static void test_schemas(Fixture *fixture, const void *data) {
        g_autofree char *filler = g_strnfill(TOOL_SCHEMA_BYTES_MAX, 'x'), *large = NULL;

        (void) data;
        assert_refused(fixture, fixture->one, "tool", "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"string\"}}", "object");
        assert_refused(fixture, fixture->one, "tool",
                       "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"$ref\":\"https://example.invalid/s.json\"}}",
                       "compile");
        assert_refused(fixture, fixture->one, "tool",
                       "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"strng\"}}}}",
                       "compile");
        large = g_strdup_printf("{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"title\":\"%s\"}}", filler);
        assert_refused(fixture, fixture->one, "tool", large, "65536");
        /* The good one beside them stays possible (SC-01). */
        g_assert_cmpuint(tool(fixture, fixture->one, 0, "good"), >, 0);
}

static void test_hooks(Fixture *fixture, const void *data) {
        g_autofree char *refusal = NULL;

        (void) data;
        g_assert_cmpuint(propose(fixture, fixture->one, 0, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
        g_assert_cmpuint(propose(fixture, fixture->one, 0, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
        assert_refused(fixture, fixture->one, "hook", "{\"name\":\"tools/post-execute\",\"description\":\"l\"}", "pre-execute");
}

#define ADD(path, function) g_test_add(path, Fixture, NULL, fixture_up, function, fixture_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        ADD("/registry/usable-when-active", test_usable_when_active);
        ADD("/registry/O06-A08-names", test_names);
        ADD("/registry/TR-14-other-plugin-keeps-its-name", test_other_plugin_keeps_its_name);
        ADD("/registry/O09-A17-registering-again", test_again);
        ADD("/registry/A16-foreign-owner", test_foreign_owner);
        ADD("/registry/A16-stale-owner-object", test_stale_owner_object);
        ADD("/registry/TR-17-withdrawn-owner", test_withdrawn_owner);
        ADD("/registry/O08-tool-limit", test_tool_limit);
        ADD("/registry/C01-C03-C04-commands", test_command_rules);
        ADD("/registry/O05-SC-01-schemas", test_schemas);
        ADD("/registry/E09-hooks", test_hooks);
        return g_test_run();
}
