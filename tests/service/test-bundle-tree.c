/* SPDX-License-Identifier: MIT */
/* The tree of one bundle as its bytes are: links, odd files, budgets, hashes. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.h"

static void test_links(void) {
        static const struct {
                const char *target, *path;
        } cases[] = {
                { "/etc/hostname", "skills/a/SKILL.md" },
                { "/etc", "skills/a" },
                { "../plugin.json", "skills/inside" },
                { "nowhere", "dangling" },
                { "plugin.json", "other.json" },
                { ".", "loop" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();
                g_autofree char *parent = g_path_get_dirname(cases[i].path);

                g_test_message("%s -> %s", cases[i].path, cases[i].target);
                own(folder, "");
                fixture_make_directory(folder, parent);
                link_to(cases[i].target, folder, cases[i].path);
                assert_broken(folder, DIAGNOSTIC_BUNDLE_SYMLINK, cases[i].path);
                fixture_remove(folder);
        }
}

static void test_file_count(void) {
        char *folder = fixture_new_folder();
        Loaded loaded;

        own(folder, "");
        for (unsigned i = 0; i < BUNDLE_FILES_MAX - 1; i++) {
                g_autofree char *path = g_strdup_printf("%02u/%u", i % 64, i);

                fixture_write(folder, path, "", 0);
        }
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, 0);
        g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
        g_assert_cmpuint(loaded.bundle->tree->n_files, ==, BUNDLE_FILES_MAX);
        loaded_done(&loaded);
        fixture_write(folder, "one-more", "", 0);
        assert_broken(folder, DIAGNOSTIC_BUNDLE_TOO_LARGE, NULL);
        fixture_remove(folder);
}

static void test_byte_count(void) {
        char *folder = fixture_new_folder();
        g_autofree char *path = g_build_filename(folder, "large", NULL);
        struct stat status;
        Loaded loaded;

        own(folder, "");
        fixture_write(folder, "large", "", 0);
        g_autofree char *manifest = g_build_filename(folder, "plugin.json", NULL);
        g_assert_cmpint(stat(manifest, &status), ==, 0);
        g_assert_cmpint(truncate(path, (off_t) BUNDLE_BYTES_MAX - status.st_size), ==, 0);
        loaded = load_with(folder, true);
        g_assert_cmpint(loaded.r, ==, 0);
        g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
        g_assert_cmpuint(loaded.bundle->tree->n_bytes, ==, BUNDLE_BYTES_MAX);
        loaded_done(&loaded);

        g_assert_cmpint(truncate(path, (off_t) BUNDLE_BYTES_MAX - status.st_size + 1), ==, 0);
        assert_broken(folder, DIAGNOSTIC_BUNDLE_TOO_LARGE, NULL);
        fixture_remove(folder);
}

static void test_depth(void) {
        char *folder = fixture_new_folder();
        g_autoptr(GString) path = g_string_new("d");
        Loaded loaded;

        own(folder, "");
        for (unsigned i = 1; i < BUNDLE_DEPTH_MAX; i++)
                g_string_append(path, "/d");
        fixture_make_directory(folder, path->str);
        loaded = load_with(folder, true);
        g_assert_false(diagnostics_has_error(loaded.bundle->diagnostics));
        loaded_done(&loaded);
        g_string_append(path, "/d");
        fixture_make_directory(folder, path->str);
        assert_broken(folder, DIAGNOSTIC_BUNDLE_TOO_LARGE, NULL);
        fixture_remove(folder);
}

static void make_fifo(const char *path) {
        g_assert_cmpint(mkfifo(path, 0600), ==, 0);
}

static void make_socket(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_strlcpy(address.sun_path, path, sizeof address.sun_path);
        g_assert_cmpint(bind(fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
}

static void make_hard_link(const char *path) {
        g_autofree char *folder = g_path_get_dirname(path), *original = g_build_filename(folder, "plugin.json", NULL);

        g_assert_cmpint(link(original, path), ==, 0);
}

static void make_device(const char *path) {
        /* Only root may have /dev/null here; anybody may have the device 0:0, where the file system can. */
        if (mknod(path, S_IFCHR | 0600, 0x0103) < 0 && mknod(path, S_IFCHR | 0600, 0) < 0) {
                g_test_message("no device can be made here: a FIFO once more");
                make_fifo(path);
        }
}

static void test_special_files(void) {
        static void (*const makers[])(const char *path) = { make_fifo, make_socket, make_hard_link, make_device };

        for (size_t i = 0; i < G_N_ELEMENTS(makers); i++) {
                char *folder = fixture_new_folder();
                g_autofree char *path = g_build_filename(folder, "odd", NULL);

                g_test_message("case %zu", i);
                own(folder, "");
                makers[i](path);
                assert_broken(folder, DIAGNOSTIC_BUNDLE_SPECIAL_FILE, "odd");
                fixture_remove(folder);
        }
}

static void test_file_names(void) {
        static const struct {
                const char *path, *shown;
        } cases[] = {
                { "\xff\xfe\n", "\\xff\\xfe\\x0a" },
                { "a\x1b[2Jb", "a\\x1b[2Jb" },
                { "a\xe2\x80\xae" "b", "a\\u{202e}b" },
                { BUNDLE_ERASED_NAME "/x.mjs", BUNDLE_ERASED_NAME },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char *folder = fixture_new_folder();

                own(folder, "");
                fixture_write(folder, cases[i].path, "x", -1);
                assert_broken(folder, DIAGNOSTIC_BUNDLE_FILE_NAME, cases[i].shown);
                fixture_remove(folder);
        }
}

static void test_hash_covers(void) {
        char *folder = fixture_new_folder();
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autofree char *script = g_build_filename(folder, "run.sh", NULL), *moved = g_build_filename(folder, "ran.sh", NULL);
        g_autofree char *first = NULL, *again = NULL, *marked = NULL;

        own(folder, "");
        fixture_write(folder, "run.sh", "echo 1\n", -1);
        first = hash_of(folder);
        again = hash_of(folder);
        g_assert_cmpstr(first, ==, again);
        g_assert_true(g_hash_table_add(seen, g_strdup(first)));

        fixture_write(folder, "run.sh", "echo 2\n", -1);
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        g_assert_cmpint(g_chmod(script, 0700), ==, 0);
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        g_assert_cmpint(g_rename(script, moved), ==, 0);
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        fixture_write(folder, "empty", "", 0);
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        fixture_make_directory(folder, "empty-directory");
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        fixture_make_directory(folder, "empty-directory/deeper");
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));

        /* What says nothing about the bundle leaves it alone: times, and bits that nobody runs by. */
        again = (g_free(again), hash_of(folder));
        g_assert_cmpint(g_chmod(moved, 0755), ==, 0);
        g_assert_cmpint(utimensat(AT_FDCWD, moved, NULL, 0), ==, 0);
        fixture_write(folder, BUNDLE_MARKER_NAME, "{}", -1);
        marked = hash_of(folder);
        g_assert_cmpstr(again, ==, marked);
        fixture_remove(folder);
}

static void test_every_byte(void) {
        char *folder = fixture_new_folder();
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        char text[64];

        own(folder, "");
        memset(text, 'a', sizeof text);
        fixture_write(folder, "data", text, sizeof text);
        g_assert_true(g_hash_table_add(seen, hash_of(folder)));
        for (unsigned bit = 0; bit < 8; bit++) {
                text[sizeof text / 2] = (char) ('a' ^ (1 << bit));
                fixture_write(folder, "data", text, sizeof text);
                g_assert_true(g_hash_table_add(seen, hash_of(folder)));
                text[sizeof text / 2] = 'a';
        }
        for (size_t i = 0; i < sizeof text; i++) {
                text[i] = 'b';
                fixture_write(folder, "data", text, sizeof text);
                g_assert_true(g_hash_table_add(seen, hash_of(folder)));
                text[i] = 'a';
        }
        fixture_remove(folder);
}

static void test_three_hashes(void) {
        char *folder = fixture_new_folder();
        g_autofree char *script = g_build_filename(folder, "run.sh", NULL);
        g_autofree char *first = NULL, *bytes = NULL, *mode = NULL, *file = NULL;

        own(folder, "");
        fixture_write(folder, "mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"sh\",\"args\":[\"run.sh\"]}}}", -1);
        fixture_write(folder, "run.sh", "echo 1\n", -1);
        first = hash_of(folder);
        fixture_write(folder, "run.sh", "echo 2\n", -1);
        bytes = hash_of(folder);
        g_assert_cmpint(g_chmod(script, 0755), ==, 0);
        mode = hash_of(folder);
        fixture_write(folder, "added", "", 0);
        file = hash_of(folder);
        g_assert_cmpstr(first, !=, bytes);
        g_assert_cmpstr(bytes, !=, mode);
        g_assert_cmpstr(mode, !=, file);
        g_assert_cmpstr(first, !=, mode);
        g_assert_cmpstr(first, !=, file);
        g_assert_cmpstr(bytes, !=, file);
        fixture_remove(folder);
}

static void test_unchanged(void) {
        char *folder = fixture_new_folder();
        g_autofree char *file = g_build_filename(folder, "native/main.mjs", NULL);
        _cleanup_close_ int root = safe_open_directory(folder);
        struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
        struct stat status;
        Loaded loaded;

        fixture_bundle(folder, "x");
        g_usleep(150 * 1000); /* past the tick in which a change could hide */
        loaded = load_with(folder, true);
        g_assert_true(bundle_tree_is_unchanged(loaded.bundle->tree, root));

        /* The same size, and the old time of modification put back: the time of change gives it away. */
        g_assert_cmpint(stat(file, &status), ==, 0);
        fixture_write(folder, "native/main.mjs", "export function apply() {;\n", -1);
        old[0] = status.st_atim;
        old[1] = status.st_mtim;
        g_assert_cmpint(utimensat(AT_FDCWD, file, old, 0), ==, 0);
        g_assert_false(bundle_tree_is_unchanged(loaded.bundle->tree, root));
        loaded_done(&loaded);

        g_usleep(150 * 1000);
        loaded = load_with(folder, true);
        g_assert_true(bundle_tree_is_unchanged(loaded.bundle->tree, root));
        fixture_write(folder, "native/new", "", 0);
        g_assert_false(bundle_tree_is_unchanged(loaded.bundle->tree, root));
        loaded_done(&loaded);
        fixture_remove(folder);
}

/* A fingerprint taken within a tick of the change proves nothing, so such a tree never counts as unchanged. */
static void test_fresh(void) {
        char *folder = fixture_new_folder();
        _cleanup_close_ int root = safe_open_directory(folder);
        Loaded loaded;

        fixture_bundle(folder, "x");
        loaded = load_with(folder, true);
        for (size_t i = 0; i < loaded.bundle->tree->nodes->len; i++) {
                const BundleNode *node = g_ptr_array_index(loaded.bundle->tree->nodes, i);

                if (node->fresh) {
                        g_assert_false(bundle_tree_is_unchanged(loaded.bundle->tree, root));
                        break;
                }
        }
        loaded_done(&loaded);
        fixture_remove(folder);
}

/* Swaps a directory of the bundle for a link to /etc and back, as fast as it can. */
static void swap_forever(const char *folder) {
        g_autofree char *directory = g_build_filename(folder, "sub", NULL), *aside = g_build_filename(folder, "../aside", NULL);
        g_autofree char *lure = g_build_filename(folder, "../lure", NULL);

        for (;;) {
                (void) rename(directory, aside);
                (void) rename(lure, directory);
                (void) rename(directory, lure);
                (void) rename(aside, directory);
        }
}

static void test_swapped_directory(void) {
        char *world = fixture_new_folder();
        g_autofree char *folder = g_build_filename(world, "bundle", NULL), *right = NULL, *without = NULL, *after = NULL;
        g_autofree char *directory = g_build_filename(folder, "sub", NULL), *aside = g_build_filename(world, "aside", NULL);
        g_autofree char *lure = g_build_filename(world, "lure", NULL);
        unsigned seen_whole = 0;
        pid_t child;

        own(folder, "");
        without = hash_of(folder);
        fixture_write(folder, "sub/hostname", "ours\n", -1);
        link_to("/etc", world, "lure");
        right = hash_of(folder);

        child = fork();
        if (child == 0)
                swap_forever(folder);
        for (unsigned i = 0; i < 400; i++) {
                Loaded loaded = load_with(folder, true);

                /* Either it is what it was, or it is refused; never a hash over something else than "sub" or nothing. */
                if (loaded.r == 0 && loaded.bundle->content_hash && bundle_tree_find(loaded.bundle->tree, "sub")) {
                        g_assert_cmpstr(loaded.bundle->content_hash, ==, right);
                        seen_whole++;
                } else if (loaded.r == 0 && loaded.bundle->content_hash && !diagnostics_has_error(loaded.bundle->diagnostics))
                        g_assert_cmpstr(loaded.bundle->content_hash, ==, without);
                loaded_done(&loaded);
        }
        g_assert_cmpint(kill(child, SIGKILL), ==, 0);
        g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
        g_test_message("whole %u times", seen_whole);

        /* However the race went: the directory gives its hash, the link in its place none that could be trusted. */
        if (g_file_test(aside, G_FILE_TEST_IS_DIR)) {
                (void) rename(directory, lure);
                g_assert_cmpint(rename(aside, directory), ==, 0);
        }
        after = hash_of(folder);
        g_assert_cmpstr(after, ==, right);
        g_assert_cmpint(rename(directory, aside), ==, 0);
        g_assert_cmpint(rename(lure, directory), ==, 0);
        assert_broken(folder, DIAGNOSTIC_BUNDLE_SYMLINK, "sub");
        fixture_remove(world);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/service/bundle/TR-04-links", test_links);
        g_test_add_func("/service/bundle/M14-files", test_file_count);
        g_test_add_func("/service/bundle/M14-bytes", test_byte_count);
        g_test_add_func("/service/bundle/M14-depth", test_depth);
        g_test_add_func("/service/bundle/M14-special-files", test_special_files);
        g_test_add_func("/service/bundle/DB-03-file-names", test_file_names);
        g_test_add_func("/service/bundle/T04-hash-covers-everything", test_hash_covers);
        g_test_add_func("/service/bundle/T04-every-byte", test_every_byte);
        g_test_add_func("/service/bundle/TR-02-three-hashes", test_three_hashes);
        g_test_add_func("/service/bundle/TR-05-swapped-directory", test_swapped_directory);
        g_test_add_func("/service/bundle/unchanged", test_unchanged);
        g_test_add_func("/service/bundle/fresh", test_fresh);
        return g_test_run();
}
