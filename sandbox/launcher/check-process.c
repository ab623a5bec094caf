/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/launcher/checks.h"

/* What this process was born with: descriptors and environment. */

static int find_descriptor(void) {
        DIR *dir = opendir("/proc/self/fd");
        int found = -1;

        if (!dir)
                return 0; /* can't say: counts as found */
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
                int fd = atoi(entry->d_name);

                if (fd > 2 && fd != dirfd(dir))
                        found = fd;
        }
        (void) closedir(dir);
        return found;
}

static bool is_same(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Standard input and output are one socket, and what is written to standard error does not end up there. */
static bool is_channel(void) {
        struct stat in, out, err;

        return fstat(0, &in) == 0 && fstat(1, &out) == 0 && S_ISSOCK(in.st_mode) && is_same(&in, &out) &&
               (fstat(2, &err) < 0 || !is_same(&err, &out));
}

void checks_descriptors(Findings *findings) {
        int found = find_descriptor();

        if (found < 0)
                findings_add(findings, "descriptors", true, true, "0, 1 and 2 only");
        else
                findings_add(findings, "descriptors", true, false, "descriptor %d was inherited", found);
        findings_add(findings, "channel", true, is_channel(), "standard input and output, and nothing else");
}

void checks_environment(Findings *findings, const Options *options) {
        size_t n_missing = 0;
        const char *missing = "";

        for (size_t i = 0; i < options->keep.n; i++)
                if (!getenv(options->keep.words[i])) {
                        missing = options->keep.words[i];
                        n_missing++;
                }
        findings_add(findings, "environment", true, n_missing == 0, "%zu variables%s%s", options->keep.n,
                        n_missing > 0 ? ", missing: " : "", missing);
}
