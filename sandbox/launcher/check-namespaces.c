/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/launcher/checks.h"

/* @expected: "KIND:ID" of the service, which must not be ours. */
static void check_namespace(Findings *findings, const char *expected) {
        const char *colon = strchr(expected, ':');
        char name[64], path[64];
        struct stat st;
        uint64_t theirs;

        if (!colon || colon == expected || colon - expected > 16) {
                findings_add(findings, "namespace", true, false, "unusable: %s", expected);
                return;
        }
        (void) snprintf(name, sizeof(name), "namespace-%.*s", (int) (colon - expected), expected);
        (void) snprintf(path, sizeof(path), "/proc/self/ns/%.*s", (int) (colon - expected), expected);
        theirs = strtoull(colon + 1, NULL, 10);

        if (stat(path, &st) < 0)
                findings_add(findings, name, true, false, "%s: %s", path, strerror(errno));
        else
                findings_add(findings, name, true, st.st_ino != theirs,
                                "ours is %" PRIu64 ", the service's %" PRIu64, (uint64_t) st.st_ino, theirs);
}

/* The fewest users that can work: our own one, and in the system manager root besides (without any
 * capability). */
#define MAPPED_USERS_MAX 2u

static void check_uid_map(Findings *findings) {
        FILE *file = fopen("/proc/self/uid_map", "re");
        uint64_t inside, outside, count, total = 0;

        if (!file) {
                findings_add(findings, "user-map", true, false, "/proc/self/uid_map: %s", strerror(errno));
                return;
        }
        while (fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3)
                total += count;
        (void) fclose(file);
        findings_add(findings, "user-map", true, total > 0 && total <= MAPPED_USERS_MAX,
                        "%" PRIu64 " users are mapped", total);
}

/* Tried behind our own filter, not together with the other calls: what systemd does about it may be gone (filter.c). */
static void check_new_namespaces(Findings *findings) {
        static const struct {
                const char *kind;
                int flag;
        } kinds[] = {
                { "user", CLONE_NEWUSER },
                { "mnt", CLONE_NEWNS },
                { "net", CLONE_NEWNET },
                { "pid", CLONE_NEWPID },
                { "ipc", CLONE_NEWIPC },
                { "uts", CLONE_NEWUTS },
                { "cgroup", CLONE_NEWCGROUP },
        };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (unshare(kinds[i].flag) == 0) {
                        findings_add(findings, "no-new-namespaces", true, false,
                                        "a new %s namespace was made", kinds[i].kind);
                        return;
                }
        if (setns(-1, 0) == 0 || errno != EPERM) {
                findings_add(findings, "no-new-namespaces", true, false, "setns is let through: %s", strerror(errno));
                return;
        }
        findings_add(findings, "no-new-namespaces", true, true, "%s", strerror(errno));
}

void checks_namespaces(Findings *findings, const Options *options) {
        for (size_t i = 0; i < options->namespaces.n; i++)
                check_namespace(findings, options->namespaces.words[i]);
        check_uid_map(findings);
        check_new_namespaces(findings);
}
