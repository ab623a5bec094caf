/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/safe-file.h"
#include "sandbox/cgroup.h"

/* A hierarchy made of ordinary files. */
typedef struct Tree {
        char *root;
} Tree;

static void tree_init(Tree *tree) {
        tree->root = g_dir_make_tmp("cgroup-XXXXXX", NULL);
        cgroup_set_root(tree->root);
}

static void tree_done(Tree *tree) {
        g_autofree char *parent = g_path_get_dirname(tree->root), *name = g_path_get_basename(tree->root);
        _cleanup_close_ int fd = safe_open_directory(parent);

        cgroup_set_root(NULL);
        g_assert_cmpint(safe_remove_tree_at(fd, name), ==, 0);
        g_free(tree->root);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Tree, tree_done)

static void tree_write(Tree *tree, const char *path, const char *content) {
        g_autofree char *full = g_build_filename(tree->root, path, NULL), *folder = g_path_get_dirname(full);

        g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
        g_assert_true(g_file_set_contents(full, content, -1, NULL));
}

static void test_unified(void) {
        g_auto(Tree) tree;
        CgroupReading reading;

        tree_init(&tree);
        tree_write(&tree, "cgroup.controllers", "cpu memory pids\n");
        tree_write(&tree, "a/b.service/cgroup.procs", "12\n13\n");
        tree_write(&tree, "a/b.service/memory.max", "1073741824\n");
        tree_write(&tree, "a/b.service/memory.current", "61865984\n");
        tree_write(&tree, "a/b.service/pids.max", "64\n");
        tree_write(&tree, "a/b.service/pids.current", "7\n");
        tree_write(&tree, "a/b.service/cpu.max", "50000 100000\n");
        tree_write(&tree, "a/b.service/cpu.stat", "usage_usec 4711\nuser_usec 4000\n");
        g_assert_cmpint(cgroup_read("/a/b.service", &reading), ==, 0);
        g_assert_true(reading.memory.enforced && reading.tasks.enforced && reading.cpu.enforced);
        g_assert_cmpuint(reading.memory.version, ==, 2);
        g_assert_cmpuint(reading.memory.limit, ==, 1073741824);
        g_assert_cmpuint(reading.memory.usage, ==, 61865984);
        g_assert_cmpuint(reading.tasks.limit, ==, 64);
        g_assert_cmpuint(reading.tasks.usage, ==, 7);
        g_assert_cmpuint(reading.cpu.limit, ==, 500000);
        g_assert_cmpuint(reading.cpu.usage, ==, 4711);
        g_assert_cmpstr(reading.memory.reason, ==, "");
}

static void test_unified_without_limits(void) {
        g_auto(Tree) tree;
        CgroupReading reading;

        tree_init(&tree);
        tree_write(&tree, "cgroup.controllers", "cpu pids\n");
        tree_write(&tree, "b.service/cgroup.procs", "");
        tree_write(&tree, "b.service/pids.max", "max\n");
        tree_write(&tree, "b.service/cpu.max", "max 100000\n");
        g_assert_cmpint(cgroup_read("/b.service", &reading), ==, 0);
        g_assert_false(reading.memory.enforced || reading.tasks.enforced || reading.cpu.enforced);
        g_assert_cmpuint(reading.memory.limit, ==, CGROUP_UNLIMITED);
        g_assert_cmpstr(reading.memory.reason, ==, "the memory controller is not delegated to this manager");
        g_assert_cmpstr(reading.tasks.reason, ==, "no pids limit is set for this control group");
        g_assert_cmpstr(reading.cpu.reason, ==, "no cpu limit is set for this control group");
}

static void test_hybrid(void) {
        g_auto(Tree) tree;
        CgroupReading reading;

        tree_init(&tree);
        tree_write(&tree, "unified/b.service/cgroup.procs", "1\n");
        tree_write(&tree, "memory/b.service/memory.limit_in_bytes", "52428800\n");
        tree_write(&tree, "memory/b.service/memory.usage_in_bytes", "1000\n");
        tree_write(&tree, "pids/other/pids.max", "5\n");
        tree_write(&tree, "cpu/b.service/cpu.cfs_quota_us", "-1\n");
        tree_write(&tree, "cpu/b.service/cpu.cfs_period_us", "100000\n");
        tree_write(&tree, "cpuacct/b.service/cpuacct.usage", "5000000\n");
        g_assert_cmpint(cgroup_read("/b.service", &reading), ==, 0);
        g_assert_true(reading.memory.enforced);
        g_assert_cmpuint(reading.memory.version, ==, 1);
        g_assert_cmpuint(reading.memory.limit, ==, 52428800);
        g_assert_false(reading.tasks.enforced);
        g_assert_nonnull(strstr(reading.tasks.reason, "pids controller is not delegated"));
        g_assert_false(reading.cpu.enforced);
        g_assert_cmpuint(reading.cpu.usage, ==, 5000);
}

static void test_version_1_without_limit(void) {
        g_auto(Tree) tree;
        CgroupReading reading;

        tree_init(&tree);
        tree_write(&tree, "systemd/b.service/cgroup.procs", "1\n");
        tree_write(&tree, "memory/b.service/memory.limit_in_bytes", "9223372036854771712\n");
        g_assert_cmpint(cgroup_read("/b.service", &reading), ==, 0);
        g_assert_false(reading.memory.enforced);
        g_assert_cmpstr(reading.memory.reason, ==, "no memory limit is set for this control group");
        g_assert_cmpstr(reading.tasks.reason, ==, "this kernel has no pids controller");
}

static void test_gone(void) {
        g_auto(Tree) tree;
        CgroupReading reading = { .memory = { .limit = 4711 } };

        tree_init(&tree);
        tree_write(&tree, "cgroup.controllers", "\n");
        g_assert_cmpint(cgroup_read("/gone.service", &reading), ==, -ENOENT);
        g_assert_cmpuint(reading.memory.limit, ==, 4711);
        g_assert_cmpint(cgroup_count_processes("/gone.service"), ==, 0);
}

static void test_count(void) {
        g_auto(Tree) tree;

        tree_init(&tree);
        tree_write(&tree, "cgroup.controllers", "\n");
        tree_write(&tree, "b.service/cgroup.procs", "10\n11\n");
        tree_write(&tree, "b.service/inner/cgroup.procs", "12\n");
        tree_write(&tree, "b.service/inner/deep/cgroup.procs", "13\n14\n15\n");
        tree_write(&tree, "c.service/cgroup.procs", "");
        g_assert_cmpint(cgroup_count_processes("/b.service"), ==, 6);
        g_assert_cmpint(cgroup_count_processes("/c.service"), ==, 0);
}

static void test_of_process(void) {
        g_autofree char *mine = NULL, *none = NULL;

        g_assert_cmpint(cgroup_of_process((int) getpid(), &mine), ==, 0);
        g_assert_cmpint(mine[0], ==, '/');
        g_assert_cmpint(cgroup_of_process(INT_MAX, &none), ==, -ESRCH);
        g_assert_null(none);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cgroup/unified", test_unified);
        g_test_add_func("/cgroup/SY-11-unified-without-limits", test_unified_without_limits);
        g_test_add_func("/cgroup/SY-11-hybrid", test_hybrid);
        g_test_add_func("/cgroup/SY-11-version-1-without-limit", test_version_1_without_limit);
        g_test_add_func("/cgroup/gone", test_gone);
        g_test_add_func("/cgroup/SY-04-count", test_count);
        g_test_add_func("/cgroup/of-process", test_of_process);
        return g_test_run();
}
