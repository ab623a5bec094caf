/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <glib.h>
#include <string.h>

#include "service/mcp-rule.h"
#include "service/text-rule.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

const char *mcp_rule_check_id(const char *id) {
        size_t length = strlen(id);

        if (length < 1 || length > 64 || strspn(id, LETTERS DIGITS "-_") != length || strchr("-_", id[0]) ||
                        strchr("-_", id[length - 1]))
                return "must be 1 to 64 characters of A-Z, a-z, 0-9, '-' and '_', and begin and end with a letter or digit";
        return NULL;
}

const char *mcp_rule_check_command(const char *command, bool *ret_contained) {
        size_t length = strlen(command);

        if (length < 1 || length > 512)
                return "must be 1 to 512 characters";
        if (!strchr(command, '/')) {
                *ret_contained = false;
                if (length > 128 || strspn(command, LETTERS DIGITS "-_.+") != length)
                        return "must be a file in the bundle or a bare name of at most 128 characters of A-Z, a-z, 0-9, "
                               "'-', '_', '.' and '+'";
                if (strspn(command, ".") == length)
                        return "must name a program";
                return NULL;
        }

        *ret_contained = true;
        return text_rule_check_path(g_str_has_prefix(command, "./") ? command + 2 : command);
}

/* Ends with one of the words that name a secret; '_' counts as '-'. */
static bool is_credential_key(const char *key, size_t length) {
        static const char *const words[] = {
                "token",         "api-key",    "apikey",      "password",   "passwd",      "secret",
                "authorization", "access-key", "private-key", "credential", "credentials",
        };
        g_autofree char *lower = g_ascii_strdown(key, (gssize) length);

        g_strdelimit(lower, "_", '-');
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (g_str_has_suffix(lower, words[i]))
                        return true;
        return false;
}

static bool is_credential_value(const char *value) {
        static const char *const prefixes[] = { "sk-", "ghp_", "github_pat_", "xoxb-", "xoxp-" };

        for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
                if (g_str_has_prefix(value, prefixes[i]))
                        return true;
        return g_str_has_prefix(value, "AKIA") && strlen(value) >= 16;
}

static bool has_parent_component(const char *text) {
        for (const char *at = text;; at++) {
                size_t length = strcspn(at, "/\\");

                if (length == 2 && at[0] == '.' && at[1] == '.')
                        return true;
                at += length;
                if (*at == '\0')
                        return false;
        }
}

static const char *check_value(const char *value) {
        if (*value == '/' || *value == '\\' || (g_ascii_isalpha(value[0]) && value[1] == ':' && strchr("/\\", value[2])) ||
                        g_ascii_strncasecmp(value, "file:", 5) == 0)
                return "must not be an absolute path";
        if (has_parent_component(value))
                return "must not hold a '..' component";
        if (is_credential_value(value))
                return "looks like a credential; pass it through env";
        return NULL;
}

const char *mcp_rule_check_argument(const char *argument) {
        size_t dashes = strspn(argument, "-");
        const char *equals = strchr(argument, '=');
        const char *key = argument + dashes;
        const char *problem;

        /* "--api-key" announces a secret as the next argument, "--api-key=…" and "API_KEY=…" carry it. */
        if ((dashes > 0 || equals) && is_credential_key(key, equals ? (size_t) (equals - key) : strlen(key)))
                return "looks like it passes a credential; pass it through env";

        problem = check_value(argument);
        return problem || !equals ? problem : check_value(equals + 1);
}

static bool is_loopback(const char *host) {
        struct in_addr v4;
        struct in6_addr v6;

        if (g_ascii_strcasecmp(host, "localhost") == 0)
                return true;
        if (inet_pton(AF_INET, host, &v4) == 1)
                return (ntohl(v4.s_addr) >> 24) == 127;
        if (inet_pton(AF_INET6, host, &v6) == 1)
                return IN6_IS_ADDR_LOOPBACK(&v6);
        return false;
}

/* A DNS name or an address; what else a URL library may take for a host is refused. */
static bool is_host(const char *host) {
        struct in6_addr v6;
        size_t length = strlen(host);

        if (inet_pton(AF_INET6, host, &v6) == 1)
                return true;
        return length >= 1 && length <= 253 && strspn(host, LETTERS DIGITS "-.") == length && host[0] != '.' &&
                        host[0] != '-' && !strstr(host, "..");
}

static bool is_plain(const char *url) {
        for (; *url != '\0'; url++)
                if (*url <= ' ' || *url >= 0x7f || strchr("\\\"<>^`{|}", *url))
                        return false;
        return true;
}

const char *mcp_rule_check_url(const char *url, char **ret_host) {
        g_autofree char *scheme = NULL, *userinfo = NULL, *host = NULL, *query = NULL, *fragment = NULL;
        int port = -1;

        if (strlen(url) > 2048)
                return "must be at most 2048 characters";
        if (!is_plain(url) ||
                        !g_uri_split(url, G_URI_FLAGS_NONE, &scheme, &userinfo, &host, &port, NULL, &query, &fragment, NULL))
                return "must be a plain URL";
        if (userinfo || query || fragment)
                return "must not hold user information, a query or a fragment";
        if (!scheme || !host || !is_host(host))
                return "must name a host";
        if (port == 0)
                return "must not name port 0";
        if (g_ascii_strcasecmp(scheme, "https") != 0 && !(g_ascii_strcasecmp(scheme, "http") == 0 && is_loopback(host)))
                return "must be https, or http on the loopback";

        *ret_host = g_ascii_strdown(host, -1);
        return NULL;
}

const char *mcp_rule_check_header(const char *name) {
        size_t length = strlen(name);

        if (length < 1 || length > 128 || strspn(name, LETTERS DIGITS "!#$%&'*+-.^_`|~") != length)
                return "must be the name of an HTTP header of at most 128 characters";
        return NULL;
}
