/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glib.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/root-owner.h"

#define SOMEBODY 12345

static bool owned_by_root(const char *path) {
        struct stat status;

        return stat(path, &status) >= 0 && root_owns(&status);
}

static void test_outside(void) {
        struct stat status = { .st_uid = 65534 };

        g_assert_true(owned_by_root("/"));
        g_assert_false(root_owns(&status));
        status.st_uid = SOMEBODY;
        g_assert_false(root_owns(&status));
}

/* A namespace that knows this user only, as systemd makes it for the unit of a user. */
static bool enter_namespace(void) {
        char map[64];
        int fd, n;

        /* Who changes is not dumpable, and owns nothing in its own /proc. */
        if (geteuid() == 0 && (setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0))
                return false;
        n = snprintf(map, sizeof map, "%u %u 1\n", (unsigned) geteuid(), (unsigned) geteuid());
        if (unshare(CLONE_NEWUSER) < 0)
                return false;
        fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
        return fd >= 0 && write(fd, map, (size_t) n) == n && close(fd) == 0;
}

/* Runs in a child; the exit status names what is wrong. */
static int look_from_inside(void) {
        char path[] = "/tmp/root-owner-XXXXXX";
        int fd, r = 0;

        if (!enter_namespace())
                return 77;
        fd = mkstemp(path);
        if (fd < 0)
                return 2;
        if (!owned_by_root("/"))
                r = 3;
        else if (owned_by_root(path))
                r = 4;
        (void) close(fd);
        (void) unlink(path);
        return r;
}

static void test_inside(void) {
        pid_t child = fork();
        int status;

        if (child == 0)
                _exit(look_from_inside());
        g_assert_cmpint(child, >, 0);
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
                g_test_skip("no user namespace can be made here");
        else
                g_assert_cmpint(WEXITSTATUS(status), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/root-owner/outside", test_outside);
        g_test_add_func("/root-owner/in-a-user-namespace", test_inside);
        return g_test_run();
}
