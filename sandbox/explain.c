/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "sandbox/explain.h"
#include "sandbox/launcher-exit.h"

#define SETUP_STATUS_FIRST 200
#define SETUP_STATUS_LAST  245

static const struct {
        int status;
        const char *step; /* as systemd's journal names it */
        const char *meaning;
} steps[] = {
        { 200, "CHDIR", "the working directory inside is not reachable" },
        { 203, "EXEC", "the launcher could not be executed inside the sandbox" },
        { 205, "LIMITS", "a resource limit could not be set" },
        { 208, "STDIN", "the channel could not be connected to standard input" },
        { 209, "STDOUT", "the channel could not be connected to standard output" },
        { 213, "SECUREBITS", "the secure bits could not be set" },
        { 216, "GROUP", "the group could not be changed" },
        { 217, "USER", "the user namespace could not be set up" },
        { 218, "CAPABILITIES", "the capabilities could not be dropped" },
        { 219, "CGROUP", "the control group could not be set up" },
        { 222, "STDERR", "standard error could not be connected to the journal" },
        { 224, "PAM", "the session of the user could not be opened" },
        { 225, "NETWORK", "the network namespace could not be set up" },
        { 226, "NAMESPACE", "the mount namespace could not be set up" },
        { 227, "NO_NEW_PRIVILEGES", "no-new-privileges could not be set" },
        { 228, "SECCOMP", "the system call filter could not be installed" },
        { 230, "PERSONALITY", "the personality could not be locked" },
        { 232, "ADDRESS_FAMILIES", "the address families could not be restricted" },
        { 237, "KEYRING", "the kernel keyring could not be made" },
};

static const char *sysctl_root = "/proc/sys";

void explain_set_sysctl_root(const char *root) {
        sysctl_root = root ? root : "/proc/sys";
}

bool explain_is_setup_status(int status) {
        return status >= SETUP_STATUS_FIRST && status <= SETUP_STATUS_LAST;
}

/* -1 when this kernel has no such setting. */
static long read_sysctl(const char *name) {
        g_autofree char *path = g_strdup_printf("%s/%s", sysctl_root, name);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char buffer[32];
        ssize_t n;

        if (fd < 0)
                return -1;
        n = read(fd, buffer, sizeof(buffer) - 1);
        if (n <= 0)
                return -1;

        buffer[n] = 0;
        return strtol(buffer, NULL, 10);
}

/* What forbids user namespaces to who is not root, and the value that allows them again. */
static const struct {
        const char *name; /* below /proc/sys */
        const char *setting;
        bool forbids_when_set;
        const char *allows;
        const char *by;
} forbidding[] = {
        { "kernel/apparmor_restrict_unprivileged_userns", "kernel.apparmor_restrict_unprivileged_userns", true, "0",
                        " by AppArmor" },
        { "kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", false, "1", "" },
        { "user/max_user_namespaces", "user.max_user_namespaces", false, "10000", "" },
};

char *explain_user_namespaces(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(forbidding); i++) {
                long value = read_sysctl(forbidding[i].name);

                if (forbidding[i].forbids_when_set ? value > 0 : value == 0)
                        return g_strdup_printf("user namespaces are forbidden%s: %s is %ld. An administrator can allow "
                                               "them with 'sysctl %s=%s', or run the service for the system, which "
                                               "needs no such permission",
                                        forbidding[i].by, forbidding[i].setting, value, forbidding[i].setting,
                                        forbidding[i].allows);
        }
        if (access("/proc/self/ns/user", F_OK) < 0)
                return g_strdup("this kernel has no user namespaces");

        return NULL;
}

char *explain_setup(int status, bool by_system) {
        g_autofree char *reason = NULL;
        const char *step = "an unknown step", *meaning = "systemd could not prepare the process";

        for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
                if (steps[i].status == status) {
                        step = steps[i].step;
                        meaning = steps[i].meaning;
                }

        /* In a user manager all of these stand on a user namespace, which it may be forbidden to make. */
        if (!by_system && (status == 217 || status == 225 || status == 226))
                reason = explain_user_namespaces();

        return g_strdup_printf("The sandbox could not be set up (%s, exit status %d): %s%s%s.", step, status,
                        meaning, reason ? "; " : "", reason ? reason : "");
}

const char *explain_launcher_status(int status) {
        switch (status) {
        case LAUNCHER_EXIT_USAGE:
                return "the launcher did not understand its command line";
        case LAUNCHER_EXIT_FRAME:
                return "the launcher was sent something other than launcher/go";
        case LAUNCHER_EXIT_SETUP:
                return "the launcher could not set up its own walls";
        case LAUNCHER_EXIT_CHANNEL:
                return "the launcher could not use the channel";
        case LAUNCHER_EXIT_REFUSED:
                return "a wall did not hold and the launcher refused to go on";
        case LAUNCHER_EXIT_EXEC:
                return "the runtime could not be executed inside the sandbox";
        default:
                return NULL;
        }
}

char *explain_signal(int number) {
        const char *name = sigabbrev_np(number);

        return name ? g_strdup_printf("SIG%s", name) : g_strdup_printf("signal %d", number);
}
