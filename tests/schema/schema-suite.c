/* SPDX-License-Identifier: MIT */

/* Runs the official JSON Schema test suite: schema-suite [--no-remotes] [--verbose] DIRECTORY DRAFT
 *
 * Prints "part passed/total" for the mandatory part, for every optional file and for every format; fails when a mandatory
 * test does. With --no-remotes nothing outside a schema can be had, as in the service: what needs more must be refused, and
 * the number of tests of refused groups is printed. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "schema/schema.h"

typedef struct Suite {
        const char *directory;
        SchemaDraft draft;
        GHashTable *remotes; /* URI → text */
        bool with_remotes, verbose;
} Suite;

typedef struct Total {
        size_t passed, total, refused;
} Total;

static const char *draft_directory(SchemaDraft draft) {
        static const char *const names[_SCHEMA_DRAFT_MAX] = {
                [SCHEMA_DRAFT_2020_12] = "draft2020-12", [SCHEMA_DRAFT_2019_09] = "draft2019-09",
                [SCHEMA_DRAFT_7] = "draft7", [SCHEMA_DRAFT_6] = "draft6", [SCHEMA_DRAFT_4] = "draft4",
        };

        return names[draft];
}

static int load_remote(const char *uri, const char **ret_text, size_t *ret_size, void *userdata) {
        Suite *suite = userdata;
        const char *text = suite->with_remotes ? g_hash_table_lookup(suite->remotes, uri) : NULL;

        if (!text)
                return -ENOENT;
        *ret_text = text;
        *ret_size = strlen(text);
        return 0;
}

static void read_remotes(Suite *suite, const char *directory, const char *uri) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);
                char *text;

                if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
                        g_autofree char *below = g_strconcat(uri, name, "/", NULL);

                        read_remotes(suite, path, below);
                } else if (g_file_get_contents(path, &text, NULL, NULL))
                        g_hash_table_insert(suite->remotes, g_strconcat(uri, name, NULL), text);
        }
}

static void run_group(Suite *suite, const char *file, Jval group, bool formats, Total *total) {
        SchemaOptions options = { .draft = suite->draft, .assert_formats = formats, .bytes_max = 1 << 20,
                .load = load_remote, .userdata = suite };
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *name = jval_text(jval_member(group, "description"));
        Jval tests = jval_member(group, "tests"), test;
        g_autoptr(Schema) schema = NULL;
        JIter iter = jval_iterate(tests);
        size_t size;
        const char *source = jval_source(jval_member(group, "schema"), &size);
        int r;

        total->total += jval_length(tests);
        r = schema_compile(source, size, &options, &schema, &error);
        if (r < 0) {
                total->refused += jval_length(tests);
                if (suite->verbose)
                        printf("  %s: %s: refused: %s\n", file, name, error.message);
                return;
        }
        while (jiter_next(&iter, NULL, &test)) {
                Jval data = jval_member(test, "data");
                SchemaVerdict verdict = schema_validate(schema, data);
                g_autofree char *reasons = schema_explain(schema, data);
                bool valid = false;

                (void) jval_boolean(jval_member(test, "valid"), &valid);
                if (verdict == (valid ? SCHEMA_VALID : SCHEMA_INVALID) && !reasons == valid)
                        total->passed++;
                else if (suite->verbose)
                        printf("  %s: %s: %s: wanted %d, got %d (%s)\n", file, name,
                                        jval_text(jval_member(test, "description")), valid, verdict, reasons ?: "");
        }
}

static void run_file(Suite *suite, const char *path, bool formats, Total *total) {
        g_autofree char *text = NULL;
        g_autoptr(Jdoc) doc = NULL;
        JdocError error;
        JIter iter;
        Jval group;
        gsize size;

        if (!g_file_get_contents(path, &text, &size, NULL))
                g_error("%s: cannot be read", path);
        if (jdoc_parse(text, size, NULL, &doc, &error) < 0)
                g_error("%s:%zu:%zu: %s", path, error.line, error.column, error.message);
        iter = jval_iterate(jdoc_root(doc));
        while (jiter_next(&iter, NULL, &group))
                run_group(suite, path, group, formats, total);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Runs every file of a directory; with @each, prints a line a file. */
static Total run_directory(Suite *suite, const char *part, bool formats, bool each) {
        g_autofree char *path = g_build_filename(suite->directory, "tests", draft_directory(suite->draft), part, NULL);
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;
        Total sum = {};

        while (dir && (name = g_dir_read_name(dir)))
                if (g_str_has_suffix(name, ".json"))
                        g_ptr_array_add(names, g_strdup(name));
        qsort(names->pdata, names->len, sizeof(char *), compare_names);

        for (guint i = 0; i < names->len; i++) {
                g_autofree char *file = g_build_filename(path, names->pdata[i], NULL);
                /* This one asserts by its own metaschema. */
                bool own = g_str_equal(names->pdata[i], "format-assertion.json");
                Total total = {};

                run_file(suite, file, formats && !own, &total);
                if (each)
                        printf("%s/%s %zu/%zu\n", part, (char *) names->pdata[i], total.passed, total.total);
                sum.passed += total.passed;
                sum.total += total.total;
                sum.refused += total.refused;
        }
        return sum;
}

int main(int argc, char *argv[]) {
        gboolean no_remotes = FALSE, verbose = FALSE;
        const GOptionEntry entries[] = {
                { "no-remotes", 0, 0, G_OPTION_ARG_NONE, &no_remotes, "as the service: nothing outside a schema", NULL },
                { "verbose", 'v', 0, G_OPTION_ARG_NONE, &verbose, "say which tests fail", NULL },
                {},
        };
        g_autoptr(GOptionContext) context = g_option_context_new("DIRECTORY DRAFT");
        g_autoptr(GHashTable) remotes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        Suite suite = { .remotes = remotes };
        g_autofree char *path = NULL;
        Total mandatory, total;

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, NULL) || argc != 3 ||
                        schema_draft_from_string(argv[2], &suite.draft) < 0) {
                fprintf(stderr, "usage: schema-suite [--no-remotes] [--verbose] DIRECTORY 2020-12|2019-09|7|6|4\n");
                return 2;
        }
        suite.directory = argv[1];
        suite.with_remotes = !no_remotes;
        suite.verbose = verbose;
        path = g_build_filename(suite.directory, "remotes", NULL);
        read_remotes(&suite, path, "http://localhost:1234/");

        mandatory = run_directory(&suite, "", false, false);
        printf("mandatory %zu/%zu\n", mandatory.passed, mandatory.total);
        if (no_remotes) {
                printf("refused %zu\n", mandatory.refused);
                return mandatory.passed + mandatory.refused == mandatory.total && mandatory.total > 0 ? 0 : 1;
        }
        total = run_directory(&suite, "optional", false, true);
        printf("optional %zu/%zu\n", total.passed, total.total);
        total = run_directory(&suite, "optional/format", true, true);
        printf("optional/format %zu/%zu\n", total.passed, total.total);
        return mandatory.passed == mandatory.total && mandatory.total > 0 ? 0 : 1;
}
