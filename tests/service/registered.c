/* SPDX-License-Identifier: MIT */
#include "registered.h"

static void on_changed(RegistrationKind kind, void *userdata) {
        ((Registered *) userdata)->changes[kind]++;
}

static void on_prompt_changed(void *userdata) {
        (void) userdata;
}

static const RegistryEvents events = {
        .changed = on_changed, .prompt_changed = on_prompt_changed, .skills_changed = on_prompt_changed,
};

Owner *registered_owner(Registered *registered, const char *name) {
        Plugin *plugin = NULL;
        Owner *owner = NULL;

        g_assert_cmpint(plugin_set_find(registered->set, name, &plugin, NULL), ==, 0);
        g_assert_cmpint(owner_new(plugin, &owner), ==, 0);
        return owner;
}

void registered_activate(Owner *owner) {
        OwnerEntry *entry;

        for (size_t i = 0; (entry = owner_get_entry(owner, i)); i++)
                owner_entry_set_state(entry, OWNER_ACTIVE, NULL);
        owner_set_state(owner, OWNER_ACTIVE, NULL);
}

void registered_up(Registered *registered, const void *data) {
        const PluginSetOptions options = { .extension_host = true };
        g_autofree char *one = NULL, *two = NULL, *home = NULL;

        (void) data;
        registered->folder = fixture_new_folder();
        home = g_build_filename(registered->folder, "home", NULL);
        one = g_build_filename(home, "plugins", "one", NULL);
        two = g_build_filename(home, "plugins", "two", NULL);
        fixture_bundle(one, "one");
        fixture_bundle(two, "two");
        /* One has two entries. */
        fixture_write(one, "native/more.mjs", "export const apply = () => {}\n", -1);
        fixture_write(one, "plugin.json",
                      "{\"$schema\":\"https://agent-plugins.org/schemas/plugin.json\",\"name\":\"one\",\"version\":\"1.0.0\","
                      "\"extensions\":{\"net.codewhale\":{\"native\":{\"paths\":[\"native/main.mjs\",\"native/more.mjs\"]}}}}", -1);
        g_assert_cmpint(codewhale_home_new(home, &registered->home, NULL), ==, 0);
        registered->set = plugin_set_new(registered->home, &options);
        g_assert_cmpint(plugin_set_reload(registered->set, NULL), ==, 0);
        registered->registry = registry_new(NULL);
        g_assert_cmpint(registry_know_commands(registered->registry, builtin_commands), ==, 0);
        registry_set_events(registered->registry, &events, registered);
        registered->one = registered_owner(registered, "one");
        registered->two = registered_owner(registered, "two");
}

void registered_down(Registered *registered, const void *data) {
        (void) data;
        registered->registry = registry_free(registered->registry);
        registered->one = owner_unref(registered->one);
        registered->two = owner_unref(registered->two);
        registered->set = plugin_set_free(registered->set);
        registered->home = codewhale_home_unref(registered->home);
        fixture_remove(registered->folder);
}

/* Registers as a message would; returns the handle, or 0 and the refusal. */
uint64_t registered_propose(Registered *registered, Owner *owner, size_t entry_index, const char *kind, const char *spec, char **ret_refusal) {
        const OwnerEntry *entry = owner_get_entry(owner, entry_index);
        g_autofree char *text = g_strdup_printf("{\"scope\":{\"path\":\"%s\",\"sha256\":\"%s\"},\"kind\":\"%s\",\"spec\":%s}",
                                                entry->path, entry->sha256, kind, spec);
        g_autoptr(Jdoc) doc = NULL;
        uint64_t handle = 0;
        int r;

        g_assert_cmpint(jdoc_parse(text, strlen(text), NULL, &doc, NULL), ==, 0);
        r = registry_register(registered->registry, owner, jdoc_root(doc), &handle, ret_refusal);
        g_assert_cmpint(r < 0, ==, *ret_refusal != NULL);
        return r < 0 ? 0 : handle;
}

uint64_t registered_tool(Registered *registered, Owner *owner, size_t entry, const char *name) {
        g_autofree char *spec = g_strdup_printf("{\"name\":\"%s\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", name);
        g_autofree char *refusal = NULL;

        return registered_propose(registered, owner, entry, "tool", spec, &refusal);
}

uint64_t registered_command(Registered *registered, Owner *owner, const char *name) {
        g_autofree char *spec = g_strdup_printf("{\"name\":\"%s\",\"description\":\"d\"}", name), *refusal = NULL;

        return registered_propose(registered, owner, 0, "command", spec, &refusal);
}

Registration *registered_find(
                Registered *registered, const SelectionLists *lists, RegistrationKind kind, const char *name, sd_bus_error *reterr) {
        static const SelectionLists none;
        g_autoptr(Selection) selection = NULL;
        Registration *registration = NULL;

        g_assert_cmpint(selection_new(lists ?: &none, "", &selection, NULL), ==, 0);
        (void) selection_find(selection, registered->registry, kind, name, &registration, reterr);
        return registration;
}
