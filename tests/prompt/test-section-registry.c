/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "prompt/section-registry.h"

static const SectionOwner owner_a = {
        .owner = "a",
        .plugin = "plug-a",
        .generation = 1,
        .content_hash = "aaaa",
        .entry = "main.mjs",
};
static const SectionOwner owner_b = {
        .owner = "b",
        .plugin = "plug-b",
        .generation = 2,
        .content_hash = "bbbb",
        .entry = "main.mjs",
};

static int add_sized(SectionRegistry *registry, const SectionOwner *owner, const char *id, const char *text,
                size_t size, sd_bus_error *reterr) {
        uint64_t handle;

        return section_registry_add(registry, owner, id, text, size, false, &handle, reterr);
}

static int add(SectionRegistry *registry, const SectionOwner *owner, const char *id, const char *text,
                uint64_t *ret) {
        return section_registry_add(registry, owner, id, text, strlen(text), false, ret, NULL);
}

static void test_texts(void) {
        static const struct {
                const char *text;
                size_t size; /* 0: strlen() */
                bool interpolate;
                int expected;
        } cases[] = {
                { "x", 0, false, 0 },
                { "tab\tline\nreturn\r", 0, false, 0 },
                { "Grüße 世界 👩‍👩‍👧", 0, false, 0 },
                { "", 0, false, -EINVAL },
                { " \t\n", 0, false, -EINVAL },
                { "\u00a0\u200b\u3000", 0, false, -EINVAL },
                { "a\x01", 0, false, -EINVAL },
                { "a\x1b[2J", 0, false, -EINVAL },
                { "a\x7f", 0, false, -EINVAL },
                { "a\xc2\x85", 0, false, -EINVAL },
                { "a\0b", 3, false, -EINVAL },
                { "a\xff", 0, false, -EINVAL },
                { "{{nope}}", 0, false, 0 },
                { "{{nope}}", 0, true, -EINVAL },
                { "{{model}} in {{cwd}}", 0, true, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                size_t size = cases[i].size > 0 ? cases[i].size : strlen(cases[i].text);

                g_test_message("case %zu", i);
                g_assert_cmpint(section_text_check(cases[i].text, size, cases[i].interpolate, &error), ==,
                                cases[i].expected);
                g_assert_true(sd_bus_error_is_set(&error) == (cases[i].expected < 0));
        }
}

/* P02, PR-02: the limit is one of bytes. */
static void test_text_limit(void) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(SectionRegistry) registry = section_registry_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        while (text->len < 4096)
                g_string_append(text, "é");
        g_assert_cmpint(add_sized(registry, &owner_a, "edge", text->str, text->len, &error), ==, 0);
        g_string_append_c(text, 'x');
        g_assert_cmpint(add_sized(registry, &owner_a, "over", text->str, text->len, &error), ==, -E2BIG);
        g_assert_cmpstr(error.name, ==, ERROR_TOO_LARGE);
        g_assert_nonnull(strstr(error.message, "4096"));
        g_assert_nonnull(strstr(error.message, "4097"));
}

static void test_ids(void) {
        static const struct {
                const char *id;
                int expected;
        } cases[] = {
                { "a", 0 },
                { "a-b_9", 0 },
                { "a123456789012345678901234567890123456789012345678901234567890123", 0 },
                { "a1234567890123456789012345678901234567890123456789012345678901234", -EINVAL },
                { "Aa", -EINVAL },
                { "aA", -EINVAL },
                { "9a", -EINVAL },
                { "", -EINVAL },
                { "a.b", -EINVAL },
                { "../x", -EINVAL },
                { "é", -EINVAL },
                { NULL, -EINVAL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].id ? cases[i].id : "(null)");
                g_assert_cmpint(section_id_check(cases[i].id), ==, cases[i].expected);
        }
}

/* P03, PR-06: 128 sections of one owner, pending ones counted; others keep working; room is back after
 * teardown. */
static void test_owner_count(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        uint64_t handle = 0;

        for (unsigned i = 0; i < 128; i++) {
                g_autofree char *id = g_strdup_printf("s%u", i);

                g_assert_cmpint(add(registry, &owner_a, id, "x", &handle), ==, 0);
                if (i % 2 == 0)
                        g_assert_cmpint(section_registry_admit(registry, handle), ==, 0);
        }
        g_assert_cmpint(add_sized(registry, &owner_a, "one-more", "x", 1, &error), ==, -ENOBUFS);
        g_assert_cmpstr(error.name, ==, ERROR_LIMIT_EXCEEDED);
        g_assert_nonnull(strstr(error.message, "128 sections"));
        g_assert_cmpint(add(registry, &owner_b, "s1", "x", &handle), ==, 0);
        g_assert_cmpuint(section_registry_remove_owner(registry, "a", NULL), ==, 128);
        g_assert_cmpint(add(registry, &owner_a, "one-more", "x", &handle), ==, 0);
}

/* P03, PR-01: 32 KiB of one owner, and another is not touched by it. */
static void test_owner_bytes(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        g_autofree char *text = g_strnfill(4096, 'x');
        uint64_t handle;

        for (unsigned i = 0; i < 8; i++) {
                g_autofree char *id = g_strdup_printf("s%u", i);

                g_assert_cmpint(add(registry, &owner_a, id, text, &handle), ==, 0);
        }
        g_assert_cmpint(add_sized(registry, &owner_a, "more", "x", 1, &error), ==, -ENOBUFS);
        g_assert_nonnull(strstr(error.message, "32768 bytes"));
        g_assert_cmpint(add_sized(registry, &owner_b, "other", text, 1024, NULL), ==, 0);
        g_assert_cmpint(section_registry_remove(registry, handle), ==, 0);
        g_assert_cmpint(add(registry, &owner_a, "more", text, &handle), ==, 0);
}

/* P03, PR-06: 1,024 sections and 128 KiB over all owners. */
static void test_host_limits(void) {
        g_autoptr(SectionRegistry) many = section_registry_new(), large = section_registry_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL, bytes_error = SD_BUS_ERROR_NULL;
        g_autofree char *text = g_strnfill(4096, 'x');

        for (unsigned i = 0; i < 1024; i++) {
                g_autofree char *name = g_strdup_printf("o%u", i / 128),
                                *id = g_strdup_printf("s%u", i % 128);
                const SectionOwner owner = { .owner = name, .plugin = "p", .content_hash = "h" };

                g_assert_cmpint(add_sized(many, &owner, id, "x", 1, NULL), ==, 0);
        }
        g_assert_cmpint(add_sized(many, &owner_a, "more", "x", 1, &error), ==, -ENOBUFS);
        g_assert_nonnull(strstr(error.message, "1024 sections"));

        for (unsigned i = 0; i < 32; i++) {
                g_autofree char *name = g_strdup_printf("o%u", i / 8), *id = g_strdup_printf("s%u", i % 8);
                const SectionOwner owner = { .owner = name, .plugin = "p", .content_hash = "h" };

                g_assert_cmpint(add_sized(large, &owner, id, text, 4096, NULL), ==, 0);
        }
        g_assert_cmpint(add_sized(large, &owner_a, "more", "x", 1, &bytes_error), ==, -ENOBUFS);
        g_assert_nonnull(strstr(bytes_error.message, "131072 bytes"));
}

/* P04: a second one of the same id waits for the disposal of the first, also while that is pending. */
static void test_duplicates(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        uint64_t first, second;

        g_assert_cmpint(add(registry, &owner_a, "same", "one", &first), ==, 0);
        g_assert_cmpint(add_sized(registry, &owner_a, "same", "two", 3, &error), ==, -EEXIST);
        g_assert_nonnull(strstr(error.message, "\"same\""));
        g_assert_cmpint(section_registry_remove(registry, first), ==, 0);
        g_assert_cmpint(add(registry, &owner_a, "same", "two", &second), ==, 0);
        g_assert_cmpuint(second, >, first);

        /* The late admission and a second disposal of the old handle change nothing for the new one. */
        g_assert_cmpint(section_registry_admit(registry, first), ==, -ENOENT);
        g_assert_cmpint(section_registry_remove(registry, first), ==, -ENOENT);
        g_assert_cmpstr(section_registry_find(registry, second)->text, ==, "two");
        g_assert_null(section_registry_find(registry, first));
}

/* P05: the same id under two owners, or two entries of one. */
static void test_same_id(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        SectionOwner entry = owner_a;
        uint64_t handle;

        entry.entry = "second.mjs";
        g_assert_cmpint(add(registry, &owner_a, "same", "one", &handle), ==, 0);
        g_assert_cmpint(add(registry, &owner_b, "same", "two", &handle), ==, 0);
        g_assert_cmpint(add(registry, &entry, "same", "three", &handle), ==, 0);
        g_assert_cmpuint(section_registry_remove_owner(registry, "a", "second.mjs"), ==, 1);
        g_assert_cmpuint(section_registry_length(registry), ==, 2);
        g_assert_cmpuint(section_registry_remove_owner(registry, "a", NULL), ==, 1);
        g_assert_cmpuint(section_registry_remove_owner(registry, "a", NULL), ==, 0);
}

static void test_revision(void) {
        g_autoptr(SectionRegistry) registry = section_registry_new();
        uint64_t one, two, before;

        g_assert_cmpuint(section_registry_revision(registry), ==, 1);
        g_assert_cmpint(add(registry, &owner_a, "one", "x", &one), ==, 0);
        g_assert_cmpint(add(registry, &owner_a, "two", "x", &two), ==, 0);
        g_assert_cmpuint(section_registry_revision(registry), ==, 1);
        g_assert_cmpint(section_registry_remove(registry, two), ==, 0);
        g_assert_cmpuint(section_registry_revision(registry), ==, 1);
        g_assert_cmpint(section_registry_admit(registry, one), ==, 0);
        before = section_registry_revision(registry);
        g_assert_cmpuint(before, >, 1);
        g_assert_cmpint(section_registry_admit(registry, one), ==, 0);
        g_assert_cmpuint(section_registry_admit_owner(registry, "a"), ==, 0);
        g_assert_cmpuint(section_registry_revision(registry), ==, before);
        g_assert_cmpint(section_registry_remove(registry, one), ==, 0);
        g_assert_cmpuint(section_registry_revision(registry), >, before);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/section/P02-texts", test_texts);
        g_test_add_func("/section/P02-PR-02-text-limit", test_text_limit);
        g_test_add_func("/section/PR-06-ids", test_ids);
        g_test_add_func("/section-registry/P03-PR-06-owner-count", test_owner_count);
        g_test_add_func("/section-registry/P03-PR-01-P08-owner-bytes", test_owner_bytes);
        g_test_add_func("/section-registry/P03-PR-06-host-limits", test_host_limits);
        g_test_add_func("/section-registry/P04-duplicates", test_duplicates);
        g_test_add_func("/section-registry/P05-same-id", test_same_id);
        g_test_add_func("/section-registry/revision", test_revision);
        return g_test_run();
}
