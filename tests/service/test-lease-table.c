/* SPDX-License-Identifier: MIT */
/* Leases on a tree: whoever changes a byte or a name is noticed, by whatever way he comes; whoever only reads is not (T11). */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "service/lease-table.h"
#include "world.h"

#define FILES 40

typedef struct Way {
        const char *name;
        int (*take)(void); /* in the folder, by another process */
        bool holds;        /* the leases do */
        bool same;         /* the folders are */
} Way;

static int write_at(const char *path) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        return fd < 0 || pwrite(fd, "X", 1, 0) != 1 || close(fd) < 0 ? -1 : 0;
}

static int way_write(void) {
        return write_at("deep/7");
}

static int way_link(void) {
        return link("deep/7", "../another") < 0 ? -1 : write_at("../another");
}

static int way_truncate(void) {
        return truncate("3", 0);
}

static int way_map(void) {
        int fd = open("3", O_RDWR | O_CLOEXEC);
        char *map = fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (map == MAP_FAILED || close(fd) < 0)
                return -1;
        *map = 'X';
        return 0;
}

static int way_open(void) {
        int fd = open("3", O_WRONLY | O_CLOEXEC);

        return fd < 0 ? -1 : close(fd);
}

static int way_create(void) {
        int fd = open("deep/new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        return fd < 0 ? -1 : close(fd);
}

static int way_replace(void) {
        int fd = open("../other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        return fd < 0 || close(fd) < 0 ? -1 : rename("../other", "deep/7");
}

static int way_remove(void) {
        return unlink("deep/7");
}

static int way_swap_folder(void) {
        return rename("deep", "../deep") < 0 ? -1 : mkdir("deep", 0700);
}

static int way_read(void) {
        int fd = open("deep/7", O_RDONLY | O_CLOEXEC);
        char byte;

        return fd < 0 || read(fd, &byte, 1) != 1 ? -1 : close(fd);
}

static int way_nothing(void) {
        return 0;
}

static const Way ways[] = {
        { "write", way_write, false, true },       { "hard-link", way_link, false, true },
        { "truncate", way_truncate, false, true }, { "map", way_map, false, true },
        { "open-to-write", way_open, false, true }, { "create", way_create, true, false },
        { "replace", way_replace, true, false },   { "remove", way_remove, true, false },
        { "swap-folder", way_swap_folder, true, false }, { "read", way_read, true, true },
        { "nothing", way_nothing, true, true },
};

#define PATIENCE_SEC 20 /* less than the kernel has: it takes leases away after 45 seconds */

/* Opening waits until the lease is given up, which is the loop's work; it does not help that he has our descriptors too. */
static void take(sd_event *event, const char *folder, int (*way)(void)) {
        int status = 0;
        pid_t pid = fork();

        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
                (void) alarm(PATIENCE_SEC);
                if (chdir(folder) >= 0 && way() >= 0)
                        (void) execl("/bin/true", "true", NULL); /* without a memory checker's look at what we had */
                _exit(EXIT_FAILURE);
        }
        while (waitpid(pid, &status, WNOHANG) == 0)
                g_assert_cmpint(sd_event_run(event, 10000), >=, 0);
        g_assert_cmpint(status, ==, 0);
}

static BundleTree *scan(int root) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new();
        g_autoptr(BundleScan) scan = bundle_scan_new(root, BUNDLE_SCAN_STAGED, NULL, diagnostics);

        g_assert_cmpint(bundle_scan_run(scan), ==, 0);
        return bundle_scan_steal(scan);
}

static void write_files(const char *folder) {
        for (unsigned i = 0; i < FILES; i++) {
                g_autofree char *path = g_strdup_printf(i % 2 ? "deep/%u" : "%u", i);

                fixture_write(folder, path, "text", -1);
        }
        fixture_write(folder, "3", "text", -1);
        g_usleep(300 * 1000); /* what was just written proves nothing yet */
}

static void test_way(const void *data) {
        const Way *way = data;
        char *folder = fixture_new_folder();
        g_autofree char *inner = g_build_filename(folder, "tree", NULL);
        g_autoptr(sd_event) event = NULL;
        g_autoptr(LeaseTable) table = NULL;
        g_autoptr(BundleTree) tree = NULL;
        g_autoptr(LeaseSet) set = NULL;
        _cleanup_close_ int root = -EBADF;
        size_t left;

        write_files(inner);
        root = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        tree = scan(root);
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        g_assert_cmpint(lease_table_new(event, &table), ==, 0);
        left = lease_table_get_left(table);
        g_assert_cmpint(lease_set_new(table, tree, root, &set), ==, 0);
        g_assert_cmpuint(lease_table_get_left(table), ==, left - tree->n_files);
        g_assert_true(lease_set_holds(set) && bundle_tree_has_same_names(tree, root));

        take(event, inner, way->take);
        g_assert_cmpint(lease_set_holds(set), ==, way->holds);
        g_assert_cmpint(bundle_tree_has_same_names(tree, root), ==, way->same);
        g_assert_cmpuint(lease_table_get_left(table), ==, way->holds ? left - tree->n_files : left);
        fixture_remove(folder);
}

static void set_free(void *set) {
        lease_set_free(set);
}

/* Somebody has a file open for writing, or the table is used up: no leases, and none is kept. */
static void test_refused(void) {
        char *folder = fixture_new_folder();
        g_autoptr(sd_event) event = NULL;
        g_autoptr(LeaseTable) table = NULL;
        g_autoptr(BundleTree) tree = NULL;
        g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(set_free);
        _cleanup_close_ int root = -EBADF, writer = -EBADF;
        LeaseSet *set = NULL;
        size_t left;
        int r;

        write_files(folder);
        root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        tree = scan(root);
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        g_assert_cmpint(lease_table_new(event, &table), ==, 0);
        left = lease_table_get_left(table);

        writer = openat(root, "deep/7", O_WRONLY | O_CLOEXEC);
        g_assert_cmpint(lease_set_new(table, tree, root, &set), ==, -EAGAIN);
        g_assert_cmpuint(lease_table_get_left(table), ==, left);
        g_assert_cmpint(close(writer), ==, 0);
        writer = -EBADF;

        while ((r = lease_set_new(table, tree, root, &set)) == 0)
                g_ptr_array_add(sets, set);
        g_assert_cmpint(r, ==, -E2BIG);
        g_assert_cmpuint(lease_table_get_left(table), <, tree->n_files);
        g_assert_cmpuint(sets->len, ==, left / tree->n_files);
        fixture_remove(folder);
}

/* Sets outlive their table, and prove nothing then. */
static void test_table_first(void) {
        char *folder = fixture_new_folder();
        g_autoptr(sd_event) event = NULL;
        g_autoptr(BundleTree) tree = NULL;
        g_autoptr(LeaseSet) set = NULL;
        _cleanup_close_ int root = -EBADF;
        LeaseTable *table = NULL;

        write_files(folder);
        root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        tree = scan(root);
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        g_assert_cmpint(lease_table_new(event, &table), ==, 0);
        g_assert_cmpint(lease_set_new(table, tree, root, &set), ==, 0);
        lease_table_free(table);
        g_assert_false(lease_set_holds(set));
        fixture_remove(folder);
}

/* The whole of it: an active plugin with a large sealed copy. */
static void test_plugin(void) {
        World world;
        Plugin *plugin;
        g_autoptr(sd_event) event = NULL;
        g_autofree char *source = NULL;
        const char *staged;

        world_init(&world);
        source = g_build_filename(world.author, "sample", NULL);
        write_files(source);
        plugin = world_activate(&world, "sample");
        g_usleep(300 * 1000);
        g_assert_cmpint(sd_event_new(&event), >=, 0);
        g_assert_cmpint(plugin_set_use_leases(world.set, event), ==, 0);
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);

        staged = staged_copy_get_path(plugin_get_staged(plugin));
        take(event, staged, way_read);
        g_assert_cmpint(plugin_set_verify(world.set, plugin, 2, NULL), ==, 0);
        g_autofree char *file = g_build_filename(staged, "3", NULL);
        g_assert_cmpint(chmod(file, 0600), ==, 0);
        take(event, staged, way_map);
        assert_refused(plugin_set_verify(world.set, plugin, 2, &error), ERROR_NOT_ACTIVE);
        world_done(&world);
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
                g_autofree char *name = g_strdup_printf("/lease-table/%s", ways[i].name);

                g_test_add_data_func(name, &ways[i], test_way);
        }
        g_test_add_func("/lease-table/refused", test_refused);
        g_test_add_func("/lease-table/table-first", test_table_first);
        g_test_add_func("/lease-table/T11-sealed-copy", test_plugin);
        return g_test_run();
}
