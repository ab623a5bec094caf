/* SPDX-License-Identifier: MIT */
/* Archives that strangers make. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "fixture.h"
#include "service/install-archive.h"
#include "service/plugin-set.h"

typedef struct Entry {
        const char *path;
        const char *data; /* for links: where to */
        mode_t type;      /* AE_IF…; 0: a file */
        bool hard;
        size_t size; /* of zeros, instead of data */
} Entry;

#define MANIFEST "{\"$schema\":\"x\",\"name\":\"packed\"}"

static char *make_archive(const char *folder, const Entry *entries, size_t n_entries, int filter) {
        char *path = g_build_filename(folder, "archive", NULL);
        struct archive *archive = archive_write_new();

        g_assert_cmpint(archive_write_set_format_pax_restricted(archive), ==, ARCHIVE_OK);
        g_assert_cmpint(archive_write_add_filter(archive, filter), >=, ARCHIVE_WARN);
        g_assert_cmpint(archive_write_open_filename(archive, path), ==, ARCHIVE_OK);
        for (size_t i = 0; i < n_entries; i++) {
                const Entry *entry = &entries[i];
                struct archive_entry *header = archive_entry_new();
                g_autofree char *zeros = g_malloc0(entry->size + 1);
                size_t size = entry->size > 0 ? entry->size : entry->data ? strlen(entry->data) : 0;

                archive_entry_set_pathname(header, entry->path);
                archive_entry_set_filetype(header, entry->type ? entry->type : AE_IFREG);
                archive_entry_set_perm(header, g_str_has_suffix(entry->path, ".sh") ? 0755 : 0644);
                if (entry->hard)
                        archive_entry_set_hardlink(header, entry->data);
                else if (entry->type == AE_IFLNK)
                        archive_entry_set_symlink(header, entry->data);
                else if (!entry->type)
                        archive_entry_set_size(header, (la_int64_t) size);
                g_assert_cmpint(archive_write_header(archive, header), ==, ARCHIVE_OK);
                if (!entry->type && !entry->hard)
                        g_assert_cmpint(archive_write_data(archive, entry->size > 0 ? zeros : entry->data ? entry->data : "", size), ==,
                                        (la_ssize_t) size);
                archive_entry_free(header);
        }
        g_assert_cmpint(archive_write_close(archive), ==, ARCHIVE_OK);
        archive_write_free(archive);
        return path;
}

static int unpack(const char *path, const char *folder, sd_bus_error *reterr) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC), root = safe_open_directory(folder), target = -EBADF;

        g_assert_cmpint(fd, >=, 0);
        (void) safe_remove_tree_at(root, "target");
        target = safe_make_directory_at(root, "target", 0700);
        g_assert_cmpint(target, >=, 0);
        return install_archive_unpack(fd, target, reterr);
}

static void test_entries(void) {
        static const struct {
                const char *name;
                Entry entries[3];
                const char *error; /* NULL: fine */
        } cases[] = {
                { "plain", { { "plugin.json", MANIFEST }, { "a/b/c.sh", "x" }, { "d", NULL, AE_IFDIR } }, NULL },
                { "dots", { { "./", NULL, AE_IFDIR }, { "./a/", NULL, AE_IFDIR }, { "./a/b", "x" } }, NULL },
                { "absolute", { { "/etc/passwd", "x" } }, ERROR_PATH_TRAVERSAL },
                { "parent", { { "../x", "x" } }, ERROR_PATH_TRAVERSAL },
                { "parent inside", { { "a/../../x", "x" } }, ERROR_PATH_TRAVERSAL },
                { "dot inside", { { "a/./x", "x" } }, ERROR_INVALID_BUNDLE },
                { "backslash", { { "a\\x", "x" } }, ERROR_INVALID_BUNDLE },
                { "symbolic link", { { "a", "/etc", AE_IFLNK } }, ERROR_LINK_FOUND },
                { "link inside", { { "b", "x" }, { "a", "b", AE_IFLNK } }, ERROR_LINK_FOUND },
                { "hard link", { { "b", "x" }, { "a", "b", 0, true } }, ERROR_LINK_FOUND },
                { "fifo", { { "a", NULL, AE_IFIFO } }, ERROR_INVALID_BUNDLE },
                { "device", { { "a", NULL, AE_IFCHR } }, ERROR_INVALID_BUNDLE },
                { "twice", { { "a", "x" }, { "a", "y" } }, ERROR_INVALID_BUNDLE },
                { "file as folder", { { "a", "x" }, { "a/b", "y" } }, ERROR_INVALID_BUNDLE },
                { "control character", { { "a\nb", "x" } }, ERROR_INVALID_BUNDLE },
                { "too large", { { "a", NULL, 0, false, INSTALL_BYTES_MAX }, { "b", "x" } }, ERROR_TOO_LARGE },
                { "just fits", { { "a", NULL, 0, false, INSTALL_BYTES_MAX - 1 }, { "b", "x" } }, NULL },
        };
        static const int filters[] = { ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ };
        char *folder = fixture_new_folder();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
                g_autofree char *path = NULL;
                size_t n = 0;
                int r;

                while (n < G_N_ELEMENTS(cases[i].entries) && cases[i].entries[n].path)
                        n++;
                path = make_archive(folder, cases[i].entries, n, filters[i % G_N_ELEMENTS(filters)]);
                r = unpack(path, folder, &error);
                g_test_message("%s: %s", cases[i].name, error.message ? error.message : "fine");
                g_assert_cmpstr(error.name, ==, cases[i].error);
                g_assert_cmpint(r < 0, ==, cases[i].error != NULL);
                g_assert_cmpuint(fixture_count(folder, "."), ==, 2); /* the archive and the target */
        }
        fixture_remove(folder);
}

static void test_damaged(void) {
        static const Entry entries[] = { { "plugin.json", MANIFEST }, { "a", "some text that is here" } };
        char *folder = fixture_new_folder();
        g_autofree char *path = make_archive(folder, entries, 2, ARCHIVE_FILTER_GZIP), *text = NULL;
        gsize size = 0;

        g_assert_true(g_file_get_contents(path, &text, &size, NULL));
        for (gsize cut = 0; cut < size; cut += 7) {
                g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

                fixture_write(folder, "archive", text, (gssize) cut);
                /* A cut that only loses padding may go unnoticed; nothing else may. */
                if (unpack(path, folder, &error) < 0)
                        g_assert_cmpstr(error.name, ==, ERROR_INVALID_BUNDLE);
                else
                        g_assert_true(fixture_exists(folder, "target/a") || cut == 0);
        }
        fixture_write(folder, "archive", "this is no archive at all, only a text", -1);
        g_assert_cmpint(unpack(path, folder, NULL), <, 0);
        fixture_remove(folder);
}

static void test_install(void) {
        static const Entry entries[] = { { "packed-1.0/plugin.json", MANIFEST }, { "packed-1.0/run.sh", "x" } };
        static const Entry two[] = { { "a/plugin.json", MANIFEST }, { "b/plugin.json", MANIFEST } };
        static const Entry none[] = { { "a/readme", "x" } };
        PluginSetOptions options = { .extension_host = true };
        char *folder = fixture_new_folder();
        g_autofree char *home_path = g_build_filename(folder, "home", NULL), *path = NULL, *marker = NULL, *json = NULL;
        g_autoptr(CodewhaleHome) home = NULL;
        g_autoptr(PluginSet) set = NULL;
        Plugin *plugin = NULL;
        PluginFile file;

        g_assert_cmpint(codewhale_home_new(home_path, &home, NULL), ==, 0);
        set = plugin_set_new(home, &options);
        g_assert_cmpint(plugin_set_reload(set, NULL), ==, 0);

        path = make_archive(folder, two, 2, ARCHIVE_FILTER_NONE);
        g_assert_cmpint(plugin_set_install(set, path, NULL, &plugin, NULL), ==, errors_to_errno(ERROR_SEVERAL_BUNDLES));
        g_free(make_archive(folder, none, 1, ARCHIVE_FILTER_NONE));
        g_assert_cmpint(plugin_set_install(set, path, NULL, &plugin, NULL), ==, errors_to_errno(ERROR_NO_BUNDLE));

        g_free(make_archive(folder, entries, 2, ARCHIVE_FILTER_GZIP));
        g_assert_cmpint(plugin_set_preview(set, path, &json, NULL), ==, 0);
        g_assert_cmpuint(fixture_count(home_path, "plugins"), ==, 0);
        g_assert_cmpint(plugin_set_install(set, path, NULL, &plugin, NULL), ==, 0);
        g_assert_nonnull(strstr(json, plugin_get_content_hash(plugin))); /* what was previewed */
        g_assert_true(plugin_find_file(plugin, "run.sh", &file));
        g_assert_true(file.executable);
        g_assert_cmpuint(fixture_count(home_path, "."), ==, 1); /* nothing unpacked is left */
        marker = fixture_read(home_path, "plugins/packed/.installed-from");
        g_assert_nonnull(strstr(marker, "\"download_sha256\":\""));
        g_assert_nonnull(strstr(marker, path));
        fixture_remove(folder);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(errors_register(), >=, 0);
        g_test_add_func("/service/install-archive/entries", test_entries);
        g_test_add_func("/service/install-archive/damaged", test_damaged);
        g_test_add_func("/service/install-archive/install", test_install);
        return g_test_run();
}
