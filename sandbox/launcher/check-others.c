/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/checks.h"

/* Other processes of the same user. The service stands for all of them. */

static bool can_open(pid_t pid, const char *file, int flags) {
        char path[64];
        int fd;

        (void) snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, file);
        fd = open(path, flags | O_CLOEXEC);
        if (fd >= 0)
                (void) close(fd);
        return fd >= 0;
}

static void check_memory(Findings *findings, pid_t service) {
        static const char *const files[] = { "mem", "environ", "maps", "root", "cwd", "fd/0" };

        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
                if (can_open(service, files[i], O_RDONLY)) {
                        findings_add(findings, "process-memory", true, false, "/proc/%d/%s can be opened",
                                        (int) service, files[i]);
                        return;
                }
        findings_add(findings, "process-memory", true, true, "nothing of the service can be opened");
}

/* Signal 0 is the question whether a signal may be sent. */
static void check_signals(Findings *findings, pid_t service) {
        int pidfd = (int) syscall(SYS_pidfd_open, service, 0);
        bool by_pid = kill(service, 0) == 0;
        bool by_pidfd = pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;

        if (pidfd >= 0)
                (void) close(pidfd);
        findings_add(findings, "signals", true, !by_pid && !by_pidfd, "%s",
                        by_pid || by_pidfd ? "the service can be signalled"
                                           : "the service can't be signalled");
}

static void check_limits(Findings *findings, pid_t service) {
        struct rlimit limit;
        bool reached = prlimit(service, RLIMIT_NOFILE, NULL, &limit) == 0;

        findings_add(findings, "limits-of-others", true, !reached, "%s",
                        reached ? "the service's limits can be changed" : strerror(errno));
}

/* A user manager can't mount a /proc of its own, so this one stands on Landlock, which older kernels lack.
 */
static void check_hidden_processes(Findings *findings, pid_t service) {
        bool visible = can_open(service, "cmdline", O_RDONLY) || can_open(1, "cmdline", O_RDONLY);

        findings_add(findings, "process-list", false, !visible, "%s",
                        visible ? "command lines of other processes can be read"
                                : "other processes are hidden");
}

void checks_processes(Findings *findings, const Options *options) {
        check_memory(findings, options->service);
        check_signals(findings, options->service);
        check_limits(findings, options->service);
        check_hidden_processes(findings, options->service);
}
