/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "common/limits.h"
#include "service/skill-matter.h"
#include "service/skill-path.h"
#include "service/skill-scan.h"
#include "world.h"

/* ---- paths ---- */

static void test_paths(void) {
        g_autofree char *longest = g_strnfill(SKILL_PATH_BYTES_MAX, 'a'), *longer = g_strnfill(SKILL_PATH_BYTES_MAX + 1, 'a');
        const struct {
                const char *path;
                size_t size;
                const char *problem;
        } cases[] = {
                { "skills", 0, NULL },
                { "a/b.c/d e", 0, NULL },
                { "\xc3\xa4/\xe6\x97\xa5", 0, NULL },
                { "...", 0, NULL },
                { longest, 0, NULL },
                { longer, 0, "longer" },
                { "", 0, "empty" },
                { "/tmp/x", 0, "absolute" },
                { "/", 0, "absolute" },
                { "a/../../x", 0, "\"..\"" },
                { "..", 0, "\"..\"" },
                { "../other/SKILL", 0, "\"..\"" },
                { "a//b", 0, "empty segment" },
                { "./a", 0, "\".\"" },
                { "a/.", 0, "\".\"" },
                { "a/", 0, "slash" },
                { "a\\b", 0, "backslash" },
                { "C:a", 0, "colon" },
                { "a\nb", 0, "control" },
                { "a\x7f", 0, "control" },
                { "a\xc2\x85", 0, "control" },
                { "a\0b", 3, "NUL" },
                { "a\xff", 0, "UTF-8" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const char *problem = skill_path_check(cases[i].path, cases[i].size ?: strlen(cases[i].path));

                g_test_message("case %zu: %s", i, problem ?: "fine");
                g_assert_cmpint(problem != NULL, ==, cases[i].problem != NULL);
                g_assert_true(!problem || strstr(problem, cases[i].problem));
        }
}

/* ---- front matter ---- */

#define HEAD "---\nname: a\ndescription: b\n"

static void test_matter(void) {
        static const struct {
                const char *text;
                const char *problem;
        } cases[] = {
                { HEAD "---\nText.\n", NULL },
                { "---\r\nname: a\r\ndescription: b\r\n---\r\nText.\r\n", NULL },
                { HEAD "---", NULL },
                { HEAD "license: MIT\nmetadata:\n  deep: [1, {x: y}]\n---\n", NULL },
                { "---\nname: 'a'\ndescription: |\n  two\n  lines\n---\n", NULL },
                { "Text.\n", "begin" },
                { "", "begin" },
                { "---\n", "end" },
                { HEAD, "end" },
                { "--- \nname: a\ndescription: b\n---\n", "begin" },
                { "---\nname: a\n---\n", "no description" },
                { "---\ndescription: b\n---\n", "no name" },
                { "---\n---\n", "no mapping" },
                { "---\n- a\n---\n", "no mapping" },
                { "---\nname: a\nname: b\ndescription: c\n---\n", "twice" },
                { "---\nname: [\ndescription: c\n---\n", "YAML" },
                { "---\nname: ../other/SKILL\ndescription: c\n---\n", "name" },
                { "---\nname: a b\ndescription: c\n---\n", "name" },
                { "---\nname: -a\ndescription: c\n---\n", "name" },
                { "---\nname: null\ndescription: c\n---\n", "no text" },
                { "---\nname:\ndescription: c\n---\n", "no text" },
                { "---\nname: a\ndescription: ' '\n---\n", "blank" },
                { "---\nname: a\ndescription: \"x\\u001b[2J\"\n---\n", "control" },
                { "---\nname: a\ndescription: [b]\n---\n", "no text" },
                { "---\nname: &x a\ndescription: *x\n---\n", "no text" },
                { "---\nname: \xff\ndescription: b\n---\n", "UTF-8" },
                { HEAD "invocation: explicit-only\n---\n", NULL },
                { HEAD "invocation: always\n---\n", "invocation" },
                { HEAD "user-invocable: yes\n---\n", "true nor false" },
                { HEAD "user-invocable: 'false'\n---\n", "true nor false" },
                { HEAD "invocation: explicit-only\nuser-invocable: false\n---\n", "neither" },
                { HEAD "aliases-for: [x, 1, [y]]\n---\n", "no text" },
                { HEAD "description_zh-CN: c\n---\n", NULL },
                { HEAD "description_: c\n---\n", "language" },
                { HEAD "description_a!b: c\n---\n", "language" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(SkillMatter) matter = NULL;
                g_autofree char *reason = NULL;
                int r = skill_matter_parse(cases[i].text, strlen(cases[i].text), &matter, &reason);

                g_test_message("case %zu: %s", i, reason ?: "fine");
                g_assert_cmpint(r, ==, cases[i].problem ? -EBADMSG : 0);
                g_assert_cmpint(matter != NULL, ==, r == 0);
                g_assert_true(!cases[i].problem || strstr(reason, cases[i].problem));
        }
}

static void test_matter_values(void) {
        static const char text[] =
                        "---\nname: Cut-Wood_2\ndescription: >-\n  Saws\n  wood.\nargument-hint: '[planks]'\nwhen_to_use: Before building.\n"
                        "aliases-for: [saw, 'chop']\ndescription_de: S\xc3\xa4gt Holz.\ndescription_fr: Scie.\n"
                        "disable-model-invocation: true\nallowed-tools: [Bash]\nmodel: large\ncontext: fork\nagent: other\n---\n"
                        "Take a saw.\n";
        g_autoptr(SkillMatter) matter = NULL;
        g_autofree char *reason = NULL;

        g_assert_cmpint(skill_matter_parse(text, strlen(text), &matter, &reason), ==, 0);
        g_assert_cmpstr(matter->name, ==, "Cut-Wood_2");
        g_assert_cmpstr(matter->description, ==, "Saws wood.");
        g_assert_cmpstr(matter->argument_hint, ==, "[planks]");
        g_assert_cmpstr(matter->when_to_use, ==, "Before building.");
        g_assert_cmpstr(matter->aliases_for[1], ==, "chop");
        g_assert_null(matter->aliases_for[2]);
        g_assert_cmpstr(matter->languages[0], ==, "de");
        g_assert_cmpstr(matter->localized[0], ==, "S\xc3\xa4gt Holz.");
        g_assert_false(matter->model);
        g_assert_true(matter->user);
        /* Four keys that grant nothing, each with a word about it */
        g_assert_cmpuint(g_strv_length(matter->warnings), ==, 4);
        g_assert_cmpstr(text + matter->body, ==, "Take a saw.\n");
        g_assert_cmpuint(matter->kept, >, strlen("Take a saw.\n") + strlen("Saws wood."));
}

static void test_matter_limits(void) {
        g_autofree char *filler = g_strnfill(SKILL_FILE_BYTES_MAX, 'x'), *large = g_strconcat(HEAD "---\n", filler, NULL);
        g_autofree char *fitting = g_strndup(large, SKILL_FILE_BYTES_MAX), *deep = g_strnfill(8192, '[');
        g_autofree char *wide = g_strdup_printf(HEAD "x: %.*s\n---\n", (int) SKILL_MATTER_BYTES_MAX, filler);
        g_autofree char *nested = g_strconcat(HEAD "x: ", deep, "\n---\n", NULL);
        const char *const refused[] = { large, wide, nested };
        g_autoptr(SkillMatter) matter = NULL;
        g_autofree char *no_reason = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autofree char *reason = NULL;
                SkillMatter *none = NULL;

                g_assert_cmpint(skill_matter_parse(refused[i], strlen(refused[i]), &none, &reason), ==, -EBADMSG);
                g_test_message("%s", reason);
        }
        g_assert_cmpint(skill_matter_parse(fitting, strlen(fitting), &matter, &no_reason), ==, 0);
}

/* ---- folders ---- */

typedef struct Tree {
        World world;
        char *source;
        Plugin *plugin;
} Tree;

static void tree_up(Tree *tree, const void *data) {
        (void) data;
        world_init(&tree->world);
        tree->source = g_build_filename(tree->world.author, "crafts", NULL);
        fixture_bundle(tree->source, "crafts");
}

static void tree_down(Tree *tree, const void *data) {
        (void) data;
        g_free(tree->source);
        world_done(&tree->world);
}

static void tree_skill(Tree *tree, const char *path, const char *name) {
        g_autofree char *text = g_strdup_printf("---\nname: %s\ndescription: d\n---\nText of %s.\n", name, name);

        fixture_write(tree->source, path, text, -1);
}

static void tree_activate(Tree *tree) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        (void) plugin_set_install(tree->world.set, tree->source, NULL, &tree->plugin, &error);
        g_assert_cmpstr(error.message, ==, NULL);
        world_trust(&tree->world, tree->plugin);
        g_assert_cmpint(plugin_set_enable(tree->world.set, tree->plugin, NULL), ==, 0);
}

/* The names of the skills below @root, or the refusal */
static char *scan_words(Plugin *plugin, const char *root) {
        g_autoptr(SkillScan) scan = NULL;
        g_autoptr(GPtrArray) skills = NULL;
        g_autoptr(GString) words = g_string_new(NULL);
        char *reason = NULL;
        int r;

        r = skill_scan_new(plugin, root, &scan, &reason);
        if (r < 0)
                return reason;
        while ((r = skill_scan_step(scan, &reason)) > 0)
                ;
        if (r < 0)
                return reason;
        skills = skill_scan_steal(scan);
        for (size_t i = 0; i < skills->len; i++)
                g_string_append_printf(words, "%s%s", i ? " " : "", ((const Skill *) g_ptr_array_index(skills, i))->qualified);
        return g_string_free(g_steal_pointer(&words), FALSE);
}

#define assert_scan(tree, root, expected)                                  \
        do {                                                               \
                g_autofree char *said = scan_words((tree)->plugin, root);  \
                g_test_message("%s", said);                                \
                g_assert_nonnull(strstr(said, expected));                  \
        } while (0)

static void test_layout(Tree *tree, const void *data) {
        g_autofree char *exact = NULL;

        (void) data;
        tree_skill(tree, "skills/one/SKILL.md", "one");
        tree_skill(tree, "skills/one/examples/inner/SKILL.md", "inner"); /* belongs to the package "one" */
        tree_skill(tree, "skills/.hidden/SKILL.md", "hidden");
        tree_skill(tree, "skills/group/.git/x/SKILL.md", "hidden-too");
        tree_skill(tree, "skills/group/two/SKILL.md", "two");
        fixture_write(tree->source, "skills/group/two/notes.md", "no skill", -1);
        fixture_write(tree->source, "skills/three/skill.md", "no skill either", -1);
        tree_skill(tree, "skillset/four/SKILL.md", "four");
        tree_skill(tree, "flat/SKILL.md", "flat");
        fixture_write(tree->source, "none/readme.md", "x", -1);
        fixture_write(tree->source, "bad/one/SKILL.md", "no front matter", -1);
        tree_skill(tree, "bad/two/SKILL.md", "good");
        tree_skill(tree, "same/a/SKILL.md", "twin");
        tree_skill(tree, "same/b/SKILL.md", "Twin");
        tree_activate(tree);

        exact = scan_words(tree->plugin, "skills");
        g_assert_cmpstr(exact, ==, "crafts:two crafts:one");
        assert_scan(tree, "none", "no skill");
        assert_scan(tree, "gone", "no folder");
        assert_scan(tree, "skills/one/SKILL.md", "no folder");
        assert_scan(tree, "flat", "folder of its own");
        assert_scan(tree, "bad", "bad/one/SKILL.md is no skill");
        assert_scan(tree, "same", "same name");
}

static void test_budget(Tree *tree, const void *data) {
        g_autofree char *filler = g_strnfill(SKILL_FILE_BYTES_MAX - 200, 'x');

        (void) data;
        for (unsigned i = 0; i < SKILL_CANDIDATES_MAX + 1; i++) {
                g_autofree char *path = g_strdup_printf("many/s%03u/SKILL.md", i), *name = g_strdup_printf("s%03u", i);

                tree_skill(tree, path, name);
                if (i < SKILL_CANDIDATES_MAX) {
                        g_autofree char *enough = g_strdup_printf("enough/s%03u/SKILL.md", i);

                        tree_skill(tree, enough, name);
                }
        }
        for (unsigned i = 0; i < 5; i++) {
                g_autofree char *path = g_strdup_printf("large/s%u/SKILL.md", i);
                g_autofree char *text = g_strdup_printf("---\nname: s%u\ndescription: d\n---\n%.*s", i, i < 4 ? INT_MAX : 2000, filler);

                fixture_write(tree->source, path, text, -1);
        }
        tree_activate(tree);
        assert_scan(tree, "many", "129 skills");
        assert_scan(tree, "enough", "crafts:s000 ");
        assert_scan(tree, "large", "4194304 bytes");
}

/* A file that appears beside the reviewed ones is not there; one that was swapped is refused. */
static void test_unreviewed(Tree *tree, const void *data) {
        g_autofree char *one = NULL;
        const char *staged;

        (void) data;
        tree_skill(tree, "skills/one/SKILL.md", "one");
        tree_activate(tree);
        staged = staged_copy_get_path(plugin_get_staged(tree->plugin));
        g_assert_cmpint(chmod(staged, 0700), ==, 0);
        one = g_build_filename(staged, "skills", NULL);
        g_assert_cmpint(chmod(one, 0700), ==, 0);
        fixture_write(staged, "skills/late/SKILL.md", "---\nname: late\ndescription: d\n---\n", -1);
        {
                g_autofree char *words = scan_words(tree->plugin, "skills");

                g_assert_cmpstr(words, ==, "crafts:one");
        }
        {
                g_autofree char *folder = g_build_filename(staged, "skills", "one", NULL);
                g_autofree char *file = g_build_filename(folder, "SKILL.md", NULL);

                g_assert_cmpint(chmod(folder, 0700), ==, 0);
                g_assert_cmpint(g_unlink(file), ==, 0);
                tree_skill(tree, "skills/one/SKILL.md", "one");
                fixture_write(staged, "skills/one/SKILL.md", "---\nname: one\ndescription: swapped\n---\n", -1);
                assert_scan(tree, "skills", "not the reviewed ones");

                /* Nor is a link followed. */
                g_assert_cmpint(g_unlink(file), ==, 0);
                g_assert_cmpint(symlink("/etc/hostname", file), ==, 0);
                assert_scan(tree, "skills", "can't be read");
        }
}

#define TREE(path, function) g_test_add(path, Tree, NULL, tree_up, function, tree_down)

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/skill/K01-TR-07-paths", test_paths);
        g_test_add_func("/skill/K03-PR-05-matter", test_matter);
        g_test_add_func("/skill/matter-values", test_matter_values);
        g_test_add_func("/skill/K04-matter-limits", test_matter_limits);
        TREE("/skill/K03-layout", test_layout);
        TREE("/skill/K04-budget", test_budget);
        TREE("/skill/PR-05-unreviewed", test_unreviewed);
        return g_test_run();
}
