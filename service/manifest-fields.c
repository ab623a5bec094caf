/* SPDX-License-Identifier: MIT */
/* The parts that more than one manifest format has. */
#include <string.h>

#include "common/limits.h"
#include "service/manifest-format.h"
#include "service/text-rule.h"

#define LINK_CHARS_MAX 2048

void manifest_read_name(ManifestReader *reader, const char *where, Jval object, bool legacy, Manifest *manifest) {
        g_autofree char *place = manifest_reader_where(where, "name");
        const char *name = jval_text(jval_member(object, "name"));
        const char *problem;

        if (!name) {
                manifest_reader_problem(reader, place, "must be a string");
                return;
        }
        problem = text_rule_check_name(name, legacy);
        if (problem)
                manifest_reader_problem(reader, place, "%s", problem);
        else
                manifest->name = g_strdup(name);
}

static void check_keywords(ManifestReader *reader, const char *where, char **keywords) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (size_t i = 0; keywords && keywords[i]; i++)
                if (!g_hash_table_add(seen, g_utf8_casefold(keywords[i], -1))) {
                        manifest_reader_problem(reader, where, "has the same keyword twice");
                        return;
                }
}

void manifest_read_identity(ManifestReader *reader, const char *where, Jval object, Manifest *manifest) {
        g_autofree char *version_place = manifest_reader_where(where, "version");
        g_autofree char *keywords_place = manifest_reader_where(where, "keywords");
        const char *problem;

        manifest->version = manifest_reader_optional_text(reader, where, object, "version", 256);
        problem = manifest->version ? text_rule_check_version(manifest->version) : NULL;
        if (problem)
                manifest_reader_problem(reader, version_place, "%s", problem);

        manifest->description = manifest_reader_optional_text(reader, where, object, "description", 1024);
        manifest->homepage = manifest_reader_optional_text(reader, where, object, "homepage", LINK_CHARS_MAX);
        manifest->repository = manifest_reader_optional_text(reader, where, object, "repository", LINK_CHARS_MAX);
        manifest->license = manifest_reader_optional_text(reader, where, object, "license", 128);
        manifest->keywords = manifest_reader_texts(reader, keywords_place, jval_member(object, "keywords"), 64, 128);
        check_keywords(reader, keywords_place, manifest->keywords);
}

void manifest_read_author(ManifestReader *reader, const char *where, Jval value, Manifest *manifest) {
        static const char *const keys[] = { "name", "email", "url", NULL };
        g_autofree char *place = manifest_reader_where(where, "name");

        if (jval_is(value, J_ABSENT) || !manifest_reader_object(reader, where, value, keys))
                return;

        manifest->author_name = manifest_reader_text(reader, place, jval_member(value, "name"), 256);
        manifest->author_email = manifest_reader_optional_text(reader, where, value, "email", 256);
        manifest->author_url = manifest_reader_optional_text(reader, where, value, "url", 256);
}

void manifest_add_paths(ManifestReader *reader, const char *where, char **paths, ComponentKind kind, Manifest *manifest) {
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) taken = paths;

        if (g_strv_length(taken) < 1 || g_strv_length(taken) > COMPONENT_PATHS_MAX) {
                manifest_reader_problem(reader, where, "must have 1 to %u paths", COMPONENT_PATHS_MAX);
                return;
        }
        for (size_t i = 0; taken[i]; i++) {
                const char *problem = text_rule_check_path(taken[i]);

                if (problem)
                        manifest_reader_problem(reader, where, "has a path (number %zu) that %s", i + 1, problem);
                else if (g_hash_table_add(seen, taken[i]))
                        g_strv_builder_add(builder, taken[i]);
        }
        g_strfreev(manifest->components[kind]);
        manifest->components[kind] = g_strv_builder_end(builder);
}

/* A path is held against the rules for paths only, so that the message names the rule that is broken. */
static void add_path(ManifestReader *reader, const char *where, Jval value, GStrvBuilder *builder) {
        const char *path = jval_text(value);

        if (path)
                g_strv_builder_add(builder, path);
        else if (jval_is(value, J_STRING))
                manifest_reader_problem(reader, where, "must not hold NUL");
        else
                manifest_reader_problem(reader, where, "must be a string");
}

void manifest_read_component(
                ManifestReader *reader, const char *where, Jval value, ComponentKind kind, Manifest *manifest) {
        static const char *const keys[] = { "path", "paths", NULL };
        g_autoptr(GStrvBuilder) builder = NULL;
        Jval path = jval_member(value, "path"), paths = jval_member(value, "paths");
        JIter iter = jval_iterate(paths);
        Jval key, item;

        if (jval_is(value, J_ABSENT) || !manifest_reader_object(reader, where, value, keys))
                return;

        builder = g_strv_builder_new();
        if (!jval_is(path, J_ABSENT))
                add_path(reader, where, path, builder);
        if (!jval_is(paths, J_ABSENT) && !jval_is(paths, J_ARRAY))
                manifest_reader_problem(reader, where, "must have an array of strings as \"paths\"");
        while (jval_is(paths, J_ARRAY) && jiter_next(&iter, &key, &item))
                add_path(reader, where, item, builder);

        manifest_add_paths(reader, where, g_strv_builder_end(builder), kind, manifest);
}

/* A host as network_hosts spells it: a name or an address, nothing else. */
static bool lower_host(char *host) {
        for (char *at = host; *at != '\0'; at++) {
                if (!g_ascii_isalnum(*at) && !strchr("-.:", *at))
                        return false;
                *at = g_ascii_tolower(*at);
        }
        return true;
}

void manifest_read_capabilities(ManifestReader *reader, const char *where, Jval value, Manifest *manifest) {
        static const char *const keys[] = { "filesystem_roots", "network_hosts", "lifecycle_mutation", NULL };
        g_autofree char *roots_place = manifest_reader_where(where, "filesystem_roots");
        g_autofree char *hosts_place = manifest_reader_where(where, "network_hosts");

        if (jval_is(value, J_ABSENT) || !manifest_reader_object(reader, where, value, keys))
                return;

        manifest->filesystem_roots = manifest_reader_texts(
                        reader, roots_place, jval_member(value, "filesystem_roots"), 64, 512);
        manifest->network_hosts = manifest_reader_texts(
                        reader, hosts_place, jval_member(value, "network_hosts"), 64, 253);
        for (size_t i = 0; manifest->network_hosts && manifest->network_hosts[i]; i++)
                if (!lower_host(manifest->network_hosts[i]))
                        manifest_reader_problem(reader, hosts_place, "must hold names of hosts or addresses only");

        manifest->lifecycle_mutation = manifest_reader_boolean(reader, where, value, "lifecycle_mutation", false);
}

static void check_binaries(ManifestReader *reader, const char *where, char **binaries) {
        for (size_t i = 0; binaries && binaries[i]; i++)
                if (strchr(binaries[i], '/') || strchr(binaries[i], '\\') || strspn(binaries[i], ".") == strlen(binaries[i]))
                        manifest_reader_problem(reader, where, "must hold bare names of programs");
}

void manifest_read_when(ManifestReader *reader, const char *where, Jval value, Manifest *manifest) {
        static const char *const keys[] = { "os", "binaries", NULL };
        static const char *const systems[] = { "windows", "linux", "macos", "freebsd", "openbsd", "netbsd", "android",
                "ios", NULL };
        g_autofree char *os_place = manifest_reader_where(where, "os");
        g_autofree char *binaries_place = manifest_reader_where(where, "binaries");

        if (jval_is(value, J_ABSENT) || !manifest_reader_object(reader, where, value, keys))
                return;

        manifest->when_os = manifest_reader_texts(reader, os_place, jval_member(value, "os"), 64, 32);
        for (size_t i = 0; manifest->when_os && manifest->when_os[i]; i++)
                if (!g_strv_contains(systems, manifest->when_os[i]))
                        manifest_reader_problem(reader, os_place, "holds a system that is not known here");

        manifest->when_binaries = manifest_reader_texts(
                        reader, binaries_place, jval_member(value, "binaries"), 64, 128);
        check_binaries(reader, binaries_place, manifest->when_binaries);
}
