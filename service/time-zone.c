/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "service/time-zone.h"

#define FOLDER        "/zoneinfo/"
#define NAME_BYTES_MAX 64u

/* What the zones of the IANA are made of; nothing that leads elsewhere when it is looked up as a path */
static bool is_name(const char *name) {
        size_t length = strlen(name);

        return length > 0 && length <= NAME_BYTES_MAX && g_ascii_isalpha(name[0]) && name[length - 1] != '/' &&
                        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/") == length &&
                        !strstr(name, "//");
}

char *time_zone_name(const char *localtime) {
        char target[PATH_MAX];
        ssize_t n = readlink(localtime ? localtime : "/etc/localtime", target, sizeof target - 1);
        const char *folder;

        if (n < 0)
                return errno == ENOENT ? g_strdup("UTC") : NULL;

        target[n] = '\0';
        folder = strstr(target, FOLDER);
        return folder && is_name(folder + strlen(FOLDER)) ? g_strdup(folder + strlen(FOLDER)) : NULL;
}
