/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/root-owner.h"

#define OVERFLOW_UID 65534u

/* Lines of "first id inside, first id outside, count". Without the file there are no user namespaces. */
static bool root_is_mapped(void) {
        g_autofree char *map = NULL;
        char *end;

        if (!g_file_get_contents("/proc/self/uid_map", &map, NULL, NULL))
                return true;

        for (const char *line = map; *line; line++) {
                /* Root is the first of all users, so that a range has it when it begins with it. */
                if (g_ascii_strtoull(line, &end, 10) == 0 && end != line)
                        return true;
                line = strchr(end, '\n');
                if (!line)
                        break;
        }
        return false;
}

static uid_t overflow_uid(void) {
        g_autofree char *text = NULL;

        if (!g_file_get_contents("/proc/sys/kernel/overflowuid", &text, NULL, NULL))
                return OVERFLOW_UID;
        return (uid_t) g_ascii_strtoull(text, NULL, 10);
}

bool root_owns(const struct stat *status) {
        if (root_is_mapped())
                return status->st_uid == 0;
        return status->st_uid == overflow_uid();
}
