/* SPDX-License-Identifier: MIT */

/* The launcher's own filter, in a child of its own: it holds without anything of systemd's. */

#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/launcher/lockdown.h"

/* What each call is answered with behind the filter; done by a process without rights, and harmless where it is let through. */
static const struct {
        const char *name;
        long number;
        long arguments[2];
        int error;
} calls[] = {
        { "unshare-user", SYS_unshare, { CLONE_NEWUSER }, EPERM },
        { "unshare-nothing", SYS_unshare, { 0 }, EPERM },
        { "clone-user", SYS_clone, { CLONE_NEWUSER | SIGCHLD }, EPERM },
        { "clone-mount", SYS_clone, { CLONE_NEWNS | SIGCHLD }, EPERM },
        { "clone-cgroup", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD }, EPERM },
        { "clone3", SYS_clone3, { 0 }, ENOSYS },
        { "setns", SYS_setns, { 0 }, EPERM },
        { "prlimit-of-the-parent", SYS_prlimit64, { 1, RLIMIT_NOFILE }, EPERM },
        { "kill-of-the-parent", SYS_kill, { 1, 0 }, EPERM },
        { "tkill", SYS_tkill, { 1, 0 }, EPERM },
};

/* The child's exit status: 0, or the number of the call that was answered otherwise. */
static int try_all(void) {
        pid_t child;
        int status;

        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || lockdown_filter(true) < 0)
                return 100;
        for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
                if (syscall(calls[i].number, calls[i].arguments[0], calls[i].arguments[1], 0, 0, 0) >= 0 || errno != calls[i].error)
                        return 1 + (int) i;

        /* What a runtime does goes on: a child, and a signal to itself. */
        child = fork();
        if (child == 0)
                _exit(7);
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
                return 101;
        return kill(getpid(), 0) < 0 ? 102 : 0;
}

static void test_filter(void) {
        int status = -1;
        pid_t child = fork();

        if (child == 0)
                _exit(try_all());
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_true(WIFEXITED(status));
        status = WEXITSTATUS(status);
        g_test_message("%s", status == 0 ? "all as expected" : status <= (int) G_N_ELEMENTS(calls) ? calls[status - 1].name : "it could not be tried");
        g_assert_cmpint(status, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/launcher-filter/B01-namespaces-and-others-are-out-of-reach", test_filter);
        return g_test_run();
}
