/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-bus.h>

#include "common/limits.h"
#include "dbus/paths.h"

char *path_of_plugin(const char *id) {
        char *path = NULL;

        return sd_bus_path_encode(PATH_PLUGIN, id, &path) < 0 ? g_strdup(PATH_PLUGIN "/_") : path;
}

char *path_to_plugin(const char *path) {
        const char *label = g_str_has_prefix(path, PATH_PLUGIN "/") ? path + strlen(PATH_PLUGIN "/") : NULL;
        char *id = NULL;

        /* The decoder lets a slash pass, and an id has slashes: each object would have a second path. */
        if (!label || strchr(label, '/'))
                return NULL;

        return sd_bus_path_decode(path, PATH_PLUGIN, &id) > 0 ? id : NULL;
}

char *path_of_number(const char *prefix, uint64_t number) {
        return g_strdup_printf("%s/%" G_GUINT64_FORMAT, prefix, number);
}

bool path_to_number(const char *path, const char *prefix, uint64_t *ret) {
        size_t length = strlen(prefix);
        const char *digits = path + length + 1;
        uint64_t number;

        if (strncmp(path, prefix, length) != 0 || path[length] != '/' || digits[0] < '1' || digits[0] > '9')
                return false;
        if (!g_ascii_string_to_unsigned(digits, 10, 1, G_MAXUINT64, &number, NULL))
                return false;

        *ret = number;
        return true;
}

char *path_of_request(const char *sender, const char *token) {
        g_autofree char *element = g_strdup(sender[0] == ':' ? sender + 1 : sender);

        return g_strdup_printf(PATH_REQUEST "/%s/%s", g_strdelimit(element, ".", '_'), token);
}

static bool is_token(const char *text, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_isalnum(text[i]) && text[i] != '_')
                        return false;

        return length > 0 && length <= HANDLE_TOKEN_CHARS_MAX;
}

bool path_is_request(const char *path) {
        const char *sender, *token;

        if (!g_str_has_prefix(path, PATH_REQUEST "/"))
                return false;

        sender = path + strlen(PATH_REQUEST "/");
        token = strchr(sender, '/');
        return token && is_token(sender, (size_t) (token - sender)) && is_token(token + 1, strlen(token + 1));
}

bool handle_token_is_valid(const char *token) {
        return is_token(token, strlen(token));
}

char *handle_token_new(void) {
        uint32_t random[4] = {};

        /* A token that repeats is refused as one in use, so a kernel without random bytes costs nothing but that. */
        if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
                memset(random, 0, sizeof(random));
        return g_strdup_printf("t%08x%08x%08x%08x", random[0], random[1], random[2], random[3]);
}
