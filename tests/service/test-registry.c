/* SPDX-License-Identifier: MIT */
#include "registered.h"

static void test_usable_when_active(Registered *registered, const void *data) {
        (void) data;
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "probe_a"), >, 0);
        g_assert_null(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        registered_activate(registered->one);
        registry_announce(registered->registry, registered->one);
        g_assert_nonnull(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        g_assert_nonnull(registered_find(registered, NULL, REGISTRATION_TOOL, "PROBE_A", NULL));
        registry_withdraw(registered->registry, registered->one, NULL);
        g_assert_null(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        g_assert_cmpuint(registry_count(registered->registry, REGISTRATION_TOOL, NULL), ==, 0);
}

static void test_names(Registered *registered, const void *data) {
        static const char *const refused[] = {
                "", "1abc", "_abc", "a b", "mcp_x", "MCP_x", "ext_x", "read", "Read", "read_x", "list_x", "get_x", "Bash", "web_fetch",
                "exec_wait", "execute_tools", "request_user_input", "File", "tasks",
        };
        g_autofree char *longest = g_strnfill(TOOL_NAME_CHARS_MAX, 'z'), *longer = g_strnfill(TOOL_NAME_CHARS_MAX + 1, 'z');

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_test_message("%s", refused[i]);
                g_assert_cmpuint(registered_tool(registered, registered->one, 0, refused[i]), ==, 0);
        }
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, longer), ==, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, longest), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "load_workspace_dependencies"), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "slow_wait"), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "probe_read"), >, 0);
}

static void test_other_plugin_keeps_its_name(Registered *registered, const void *data) {
        (void) data;
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "Shared_Name"), >, 0);
        assert_refused(registered, registered->two, "tool", "{\"name\":\"shared_name\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}",
                       "already registered");
        /* Tools and commands are separate name spaces. */
        g_assert_cmpuint(registered_command(registered, registered->two, "shared_name"), >, 0);
        assert_refused(registered, registered->one, "command", "{\"name\":\"shared_name\",\"description\":\"d\"}", "already registered");
}

/* Nothing is cut off or put together, so what differs in the middle differs; what is too long is refused, not shortened. */
static void test_long_names(Registered *registered, const void *data) {
        g_autofree char *first = g_strnfill(30, 'a'), *last = g_strnfill(30, 'z'), *filler = g_strnfill(29, 'm');
        g_autofree char *longer = g_strconcat(first, filler, "1", last, NULL), *longer_too = g_strconcat(first, filler, "2", last, NULL);
        g_autofree char *fits = g_strconcat(first, "mmm1", last, NULL), *fits_too = g_strconcat(first, "mmm2", last, NULL);
        const Registration *found, *found_too;

        (void) data;
        g_assert_cmpuint(strlen(longer), ==, 90);
        g_assert_cmpuint(strlen(fits), ==, TOOL_NAME_CHARS_MAX);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, longer), ==, 0);
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, longer_too), ==, 0);
        g_assert_cmpuint(registry_count(registered->registry, REGISTRATION_TOOL, NULL), ==, 0);

        g_assert_cmpuint(registered_tool(registered, registered->one, 0, fits), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->two, 0, fits_too), >, 0);
        registered_activate(registered->one);
        registered_activate(registered->two);
        found = registered_find(registered, NULL, REGISTRATION_TOOL, fits, NULL);
        found_too = registered_find(registered, NULL, REGISTRATION_TOOL, fits_too, NULL);
        g_assert_true(found && found->owner == registered->one);
        g_assert_true(found_too && found_too->owner == registered->two);
        g_assert_cmpstr(found->name, ==, fits);
        g_assert_cmpstr(found_too->name, ==, fits_too);
}

/* Names are the authors' own; none is put together from an owner and a tool, where "a_b" and "c" would meet "a" and "b_c". */
static void test_no_name_is_shared(Registered *registered, const void *data) {
        static const char *const names[] = { "listing", "c", "b_c", "a_b_c" };

        (void) data;
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "listing"), >, 0);
        assert_refused(registered, registered->two, "tool", "{\"name\":\"listing\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}",
                       "already registered");
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "c"), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->two, 0, "b_c"), >, 0);
        g_assert_cmpuint(registered_tool(registered, registered->two, 0, "a_b_c"), >, 0);
        registered_activate(registered->one);
        registered_activate(registered->two);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                const Registration *found = registered_find(registered, NULL, REGISTRATION_TOOL, names[i], NULL);

                g_assert_nonnull(found);
                g_assert_cmpstr(found->name, ==, names[i]);
                g_assert_true(found->owner == (i < 2 ? registered->one : registered->two));
        }
}

static void test_again(Registered *registered, const void *data) {
        uint64_t first, second, sibling;

        (void) data;
        first = registered_tool(registered, registered->one, 0, "probe_a");
        second = registered_tool(registered, registered->one, 0, "probe_a");
        g_assert_cmpuint(second, >, first);
        registered_activate(registered->one);
        g_assert_cmpuint(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL)->handle, ==, second);

        /* An old handle takes nothing away that is newer. */
        registry_unregister(registered->registry, registered->one, first);
        g_assert_cmpuint(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL)->handle, ==, second);

        /* A sibling entry may hold the same name: both live, and the name is ambiguous until one goes. */
        sibling = registered_tool(registered, registered->one, 1, "probe_a");
        g_assert_cmpuint(sibling, >, second);
        g_assert_null(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        registry_withdraw(registered->registry, registered->one, owner_get_entry(registered->one, 1));
        g_assert_cmpuint(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL)->handle, ==, second);
}

static void test_foreign_owner(Registered *registered, const void *data) {
        uint64_t handle = registered_tool(registered, registered->one, 0, "probe_a");

        (void) data;
        registered_activate(registered->one);
        registry_unregister(registered->registry, registered->two, handle);
        g_assert_nonnull(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
        registry_unregister(registered->registry, registered->one, handle);
        registry_unregister(registered->registry, registered->one, handle);
        g_assert_null(registered_find(registered, NULL, REGISTRATION_TOOL, "probe_a", NULL));
}

/* Whether @owner takes a message in whose owner object @from stands for @to */
static bool takes(const Owner *owner, const char *text, const char *from, const char *to) {
        g_autofree char *changed = NULL;
        g_autoptr(Jdoc) doc = NULL;
        g_auto(GStrv) parts = g_strsplit(text, from, 2);

        g_assert_cmpuint(g_strv_length(parts), ==, 2);
        changed = g_strjoin(to, parts[0], parts[1], NULL);
        g_assert_cmpint(jdoc_parse(changed, strlen(changed), NULL, &doc, NULL), ==, 0);
        return owner_matches(owner, jdoc_root(doc));
}

/* Plugin, generation and token: each of them has to be that of the present activation. */
static void test_stale_owner_object(Registered *registered, const void *data) {
        g_autoptr(Owner) newer = registered_owner(registered, "one");
        g_autofree char *text = NULL, *generation = NULL, *next = NULL, *token = NULL;
        g_auto(JWriter) writer = {};
        const char *at;

        (void) data;
        jwriter_init(&writer);
        owner_write(registered->one, &writer);
        text = jwriter_steal(&writer, NULL);
        g_assert_true(takes(registered->one, text, "{", "{"));
        g_assert_false(takes(newer, text, "{", "{"));
        g_assert_false(takes(registered->two, text, "{", "{"));
        g_assert_cmpuint(owner_get_generation(newer), >, owner_get_generation(registered->one));

        generation = g_strdup_printf("\"generation\":%" G_GUINT64_FORMAT, owner_get_generation(registered->one));
        next = g_strdup_printf("\"generation\":%" G_GUINT64_FORMAT, owner_get_generation(newer));
        g_assert_false(takes(registered->one, text, generation, next));
        g_assert_false(takes(registered->one, text, "\"plugin_id\":\"", "\"plugin_id\":\"x"));
        at = strstr(text, "\"owner_token\":\"");
        g_assert_nonnull(at);
        token = g_strndup(at, strlen("\"owner_token\":\"") + 64);
        g_assert_false(takes(registered->one, text, token,
                             "\"owner_token\":\"0000000000000000000000000000000000000000000000000000000000000000"));
}

static void test_withdrawn_owner(Registered *registered, const void *data) {
        static const struct {
                const char *kind, *spec;
        } late[] = {
                { "tool", "{\"name\":\"late\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}" },
                { "command", "{\"name\":\"late\",\"description\":\"d\"}" },
                { "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"d\"}" },
        };
        static const OwnerState ended[] = { OWNER_REVOKED, OWNER_FAULTED, OWNER_FAILED };

        (void) data;
        for (size_t i = 0; i < G_N_ELEMENTS(ended); i++) {
                g_autoptr(Owner) owner = registered_owner(registered, "one");

                g_assert_cmpuint(registered_tool(registered, owner, 0, "in_time"), >, 0);
                registered_activate(owner);
                registry_withdraw(registered->registry, owner, NULL);
                owner_set_state(owner, ended[i], "ended");
                for (size_t j = 0; j < G_N_ELEMENTS(late); j++)
                        assert_refused(registered, owner, late[j].kind, late[j].spec, "live");
                for (RegistrationKind kind = 0; kind < _REGISTRATION_KIND_MAX; kind++)
                        g_assert_cmpuint(registry_count(registered->registry, kind, NULL), ==, 0);
        }
}

static void test_tool_limit(Registered *registered, const void *data) {
        (void) data;
        for (unsigned i = 0; i < TOOLS_PER_OWNER_MAX; i++) {
                g_autofree char *name = g_strdup_printf("probe_%u", i);

                g_assert_cmpuint(registered_tool(registered, registered->one, 0, name), >, 0);
        }
        assert_refused(registered, registered->one, "tool", "{\"name\":\"one_more\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}", "128");
        g_assert_cmpuint(registered_tool(registered, registered->two, 0, "of_another"), >, 0);
}

static void test_command_rules(Registered *registered, const void *data) {
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
                g_assert_cmpuint(registered_propose(registered, registered->one, 0, "command", bad[i], &refusal), ==, 0);
        }
        for (unsigned i = 0; i < COMMANDS_PER_OWNER_MAX; i++) {
                g_autofree char *name = g_strdup_printf("do-%u", i);

                g_assert_cmpuint(registered_command(registered, registered->one, name), >, 0);
        }
        assert_refused(registered, registered->one, "command", "{\"name\":\"one-more\",\"description\":\"d\"}", "64");
}

/* Why a name is gone is known for every plugin, however many names one of them used up. */
static void test_former_names(Registered *registered, const void *data) {
        g_autoptr(Owner) last = registered_owner(registered, "two");

        (void) data;
        for (unsigned activation = 0; activation <= TOOLS_MAX / TOOLS_PER_OWNER_MAX; activation++) {
                g_autoptr(Owner) owner = registered_owner(registered, "one");

                for (unsigned i = 0; i < TOOLS_PER_OWNER_MAX; i++) {
                        g_autofree char *name = g_strdup_printf("probe_%u_%u", activation, i);

                        g_assert_cmpuint(registered_tool(registered, owner, 0, name), >, 0);
                }
                registered_activate(owner);
                registry_withdraw(registered->registry, owner, NULL);
        }
        g_assert_null(registry_find_former(registered->registry, REGISTRATION_TOOL, "probe_0_0"));
        g_assert_true(registry_find_former(registered->registry, REGISTRATION_TOOL, "PROBE_8_127") == owner_get_plugin(registered->one));

        g_assert_cmpuint(registered_tool(registered, last, 0, "other"), >, 0);
        registered_activate(last);
        registry_withdraw(registered->registry, last, NULL);
        registry_withdraw(registered->registry, last, NULL);
        g_assert_true(registry_find_former(registered->registry, REGISTRATION_TOOL, "other") == owner_get_plugin(last));
}

static void test_schemas(Registered *registered, const void *data) {
        g_autofree char *filler = g_strnfill(TOOL_SCHEMA_BYTES_MAX, 'x'), *large = NULL;

        (void) data;
        assert_refused(registered, registered->one, "tool", "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"string\"}}", "object");
        assert_refused(registered, registered->one, "tool",
                       "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"$ref\":\"https://example.invalid/s.json\"}}",
                       "compile");
        assert_refused(registered, registered->one, "tool",
                       "{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"strng\"}}}}",
                       "compile");
        large = g_strdup_printf("{\"name\":\"t\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\",\"title\":\"%s\"}}", filler);
        assert_refused(registered, registered->one, "tool", large, "65536");
        /* The good one beside them stays possible (SC-01). */
        g_assert_cmpuint(registered_tool(registered, registered->one, 0, "good"), >, 0);
}

/* As many owners as it takes to reach what all together may have; the last one gets no more, and gets it when another ends. */
static void check_host_limit(Registered *registered, RegistrationKind kind, unsigned owner_max, unsigned host_max) {
        g_autoptr(GPtrArray) owners = g_ptr_array_new();
        Owner *last = registered_owner(registered, "one");

        g_assert_cmpuint(host_max % owner_max, ==, 0);
        for (unsigned n = 0; n < host_max; n++) {
                g_autofree char *name = g_strdup_printf("zz_%u", n);
                Owner *owner;

                if (n % owner_max == 0)
                        g_ptr_array_add(owners, registered_owner(registered, "two"));
                owner = g_ptr_array_index(owners, owners->len - 1);
                g_assert_cmpuint(kind == REGISTRATION_TOOL ? registered_tool(registered, owner, 0, name)
                                                           : registered_command(registered, owner, name), >, 0);
        }
        g_assert_cmpuint(registry_count(registered->registry, kind, NULL), ==, host_max);
        assert_refused(registered, last, kind == REGISTRATION_TOOL ? "tool" : "command",
                       kind == REGISTRATION_TOOL ? "{\"name\":\"zz_last\",\"description\":\"d\",\"input_schema\":{\"type\":\"object\"}}"
                                                 : "{\"name\":\"zz_last\",\"description\":\"d\"}", "all plugins together");

        registry_withdraw(registered->registry, g_ptr_array_index(owners, 0), NULL);
        g_assert_cmpuint(kind == REGISTRATION_TOOL ? registered_tool(registered, last, 0, "zz_last")
                                                   : registered_command(registered, last, "zz_last"), >, 0);
        for (size_t i = 0; i < owners->len; i++) {
                registry_withdraw(registered->registry, g_ptr_array_index(owners, i), NULL);
                owner_unref(g_ptr_array_index(owners, i));
        }
        registry_withdraw(registered->registry, last, NULL);
        owner_unref(last);
}

static void test_host_tool_limit(Registered *registered, const void *data) {
        (void) data;
        check_host_limit(registered, REGISTRATION_TOOL, TOOLS_PER_OWNER_MAX, TOOLS_MAX);
}

static void test_host_command_limit(Registered *registered, const void *data) {
        (void) data;
        check_host_limit(registered, REGISTRATION_COMMAND, COMMANDS_PER_OWNER_MAX, COMMANDS_MAX);
}

static void test_hooks(Registered *registered, const void *data) {
        g_autofree char *refusal = NULL;

        (void) data;
        g_assert_cmpuint(registered_propose(registered, registered->one, 0, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
        g_assert_cmpuint(registered_propose(registered, registered->one, 0, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
        assert_refused(registered, registered->one, "hook", "{\"name\":\"tools/post-execute\",\"description\":\"l\"}", "pre-execute");
        while (registry_count(registered->registry, REGISTRATION_HOOK, registered->one) < HOOKS_PER_OWNER_MAX)
                g_assert_cmpuint(registered_propose(registered, registered->one, 0, "hook",
                                                    "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
        assert_refused(registered, registered->one, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", "at most 128 listeners");
        g_assert_cmpuint(registered_propose(registered, registered->two, 0, "hook", "{\"name\":\"tools/pre-execute\",\"description\":\"l\"}", &refusal), >, 0);
}

/* Descriptions and hints are bounded in bytes, each at its limit and one above. */
static void test_text_limits(Registered *registered, const void *data) {
        static const struct {
                const char *kind, *spec; /* with %s for the text */
                size_t bytes_max;
        } cases[] = {
                { "tool", "{\"name\":\"t\",\"description\":\"%s\",\"input_schema\":{\"type\":\"object\"}}", 4096 },
                { "command", "{\"name\":\"c\",\"description\":\"%s\"}", 1024 },
                { "command", "{\"name\":\"c\",\"description\":\"d\",\"argument_hint\":\"%s\"}", 256 },
        };
        g_autofree char *long_name = g_strnfill(REGISTRATION_NAME_BYTES_MAX + 1, 'n'), *named = NULL;

        (void) data;
        named = g_strdup_printf("{\"name\":\"%s\",\"description\":\"d\"}", long_name);
        assert_refused(registered, registered->one, "command", named, "a name of 1025 bytes");
        assert_refused(registered, registered->one, "prompt_section", named, "a name of 1025 bytes");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                for (size_t more = 0; more <= 1; more++) {
                        g_autofree char *filler = g_strnfill(cases[i].bytes_max - 2 + more, 'x'), *refusal = NULL;
                        g_autofree char *text = g_strconcat(filler, "é", NULL);
                        g_auto(GStrv) parts = g_strsplit(cases[i].spec, "%s", 2);
                        g_autofree char *spec = g_strjoinv(text, parts);
                        uint64_t handle = registered_propose(registered, registered->one, 0, cases[i].kind, spec, &refusal);

                        g_test_message("%s, %zu bytes: %s", cases[i].kind, strlen(text), refusal ?: "taken");
                        g_assert_true((handle != 0) == (more == 0));
                }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        REGISTERED_TEST("/registry/usable-when-active", test_usable_when_active);
        REGISTERED_TEST("/registry/O06-A08-names", test_names);
        REGISTERED_TEST("/registry/TR-14-other-plugin-keeps-its-name", test_other_plugin_keeps_its_name);
        REGISTERED_TEST("/registry/TR-14-long-names", test_long_names);
        REGISTERED_TEST("/registry/TR-16-no-name-is-shared", test_no_name_is_shared);
        REGISTERED_TEST("/registry/O09-A17-registering-again", test_again);
        REGISTERED_TEST("/registry/A16-foreign-owner", test_foreign_owner);
        REGISTERED_TEST("/registry/A16-stale-owner-object", test_stale_owner_object);
        REGISTERED_TEST("/registry/TR-17-withdrawn-owner", test_withdrawn_owner);
        REGISTERED_TEST("/registry/O08-tool-limit", test_tool_limit);
        REGISTERED_TEST("/registry/O08-tool-limit-of-all", test_host_tool_limit);
        REGISTERED_TEST("/registry/C04-command-limit-of-all", test_host_command_limit);
        REGISTERED_TEST("/registry/C01-C03-C04-commands", test_command_rules);
        REGISTERED_TEST("/registry/former-names", test_former_names);
        REGISTERED_TEST("/registry/O05-SC-01-schemas", test_schemas);
        REGISTERED_TEST("/registry/C03-text-limits", test_text_limits);
        REGISTERED_TEST("/registry/E09-hooks", test_hooks);
        return g_test_run();
}
