/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/remote-source.h"

#define GITHUB       "github:"
#define GITHUB_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define REF_CHARS    GITHUB_CHARS "/"

NetworkPolicy network_policy_from_string(const char *word) {
        static const char *const words[] = { [NETWORK_ASK] = "ask", [NETWORK_DENY] = "deny", [NETWORK_ALLOW] = "allow" };

        for (int i = 0; i < _NETWORK_POLICY_MAX; i++)
                if (g_strcmp0(word, words[i]) == 0)
                        return i;

        return _NETWORK_POLICY_INVALID;
}

int remote_source_check_policy(const RemoteSource *source, NetworkPolicy policy, bool approved, sd_bus_error *reterr) {
        if (policy == NETWORK_DENY)
                return errors_set(reterr, ERROR_NETWORK_DENIED,
                                "%s is not fetched: [install] network of the configuration says \"deny\".", source->shown);
        if (policy == NETWORK_ASK && !approved)
                return errors_set(reterr, ERROR_NETWORK_APPROVAL,
                                "%s would have to be fetched from the network. Say that you want that: codewhalectl install "
                                "--allow-network, or the option 'allow-network'.",
                                source->shown);
        return 0;
}

bool remote_source_is_one(const char *text) {
        return strstr(text, "://") || g_str_has_prefix(text, GITHUB);
}

RemoteSource *remote_source_free(RemoteSource *source) {
        if (!source)
                return NULL;

        g_free(source->text);
        g_free(source->url);
        g_free(source->shown);
        g_free(source);
        return NULL;
}

static char *without_query(const char *url) {
        return g_strndup(url, strcspn(url, "?#"));
}

/* What stands between "//" and the path: it may hold what must not be repeated anywhere. */
static char *find_authority(const char *url) {
        const char *begin = strstr(url, "://") + 3;

        return g_strndup(begin, strcspn(begin, "/?#"));
}

char *remote_source_show(const char *text) {
        const char *scheme = strstr(text, "://"), *at;
        g_autofree char *clean = scheme ? without_query(text) : NULL, *authority = clean ? find_authority(clean) : NULL;

        if (!scheme)
                return g_strdup(text);
        at = strrchr(authority, '@');
        return at ? g_strdup_printf("%.*s://%s%s", (int) (scheme - text), text, at + 1, strstr(clean, "://") + 3 + strlen(authority))
                  : g_steal_pointer(&clean);
}

static bool is_printable(const char *text) {
        for (const char *at = text; *at; at++)
                if (!g_ascii_isgraph(*at) || strchr("\\\"<>^`{|}", *at))
                        return false;
        return true;
}

static bool is_number(const char *text, unsigned max) {
        size_t length = strspn(text, "0123456789");

        return length > 0 && length <= 5 && text[length] == '\0' && g_ascii_strtoull(text, NULL, 10) <= max;
}

static bool is_loopback(const char *host) {
        g_auto(GStrv) parts = g_strsplit(host, ".", 5);

        if (g_ascii_strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
                return true;
        if (g_strv_length(parts) != 4 || strcmp(parts[0], "127") != 0)
                return false;
        return is_number(parts[1], 255) && is_number(parts[2], 255) && is_number(parts[3], 255);
}

/* "host", "host:port", "[address]:port"; @ret_host keeps the brackets. */
static bool split_host(const char *authority, char **ret_host) {
        const char *end = authority[0] == '[' ? strchr(authority, ']') : NULL;
        const char *colon = strchr(end ? end : authority, ':');

        if ((authority[0] == '[' && !end) || (colon && !is_number(colon + 1, 65535)))
                return false;
        *ret_host = g_strndup(authority, colon ? (size_t) (colon - authority) : strlen(authority));
        return (*ret_host)[0] != '\0' && (end || strspn(*ret_host, GITHUB_CHARS) == strlen(*ret_host));
}

static int check_url(RemoteSource *source, sd_bus_error *reterr) {
        g_autofree char *authority = find_authority(source->url), *host = NULL;

        if (strchr(authority, '@'))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "An address with a user name or password in it is not taken.");
        if (!split_host(authority, &host))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "%s names no host.", source->shown);
        if (strchr(source->url, '#'))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "An address with '#' in it is not taken.");
        if (source->plain && !is_loopback(host))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "%s would be fetched in the clear; use https. http is for this machine only.", source->shown);
        return 0;
}

static int parse_github(RemoteSource *source, sd_bus_error *reterr) {
        const char *name = source->text + strlen(GITHUB);
        g_auto(GStrv) halves = g_strsplit(name, "@", 2), parts = g_strsplit(halves[0], "/", 3);
        const char *ref = halves[1] ? halves[1] : "HEAD";
        bool good = g_strv_length(parts) == 2;

        for (size_t i = 0; good && i < 2; i++)
                good = parts[i][0] && parts[i][0] != '.' && strspn(parts[i], GITHUB_CHARS) == strlen(parts[i]);
        if (!good || !ref[0] || strspn(ref, REF_CHARS) != strlen(ref) || strstr(ref, ".."))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS, "A source at GitHub is written github:owner/repository or "
                                                                   "github:owner/repository@tag.");
        source->url = g_strdup_printf("https://codeload.github.com/%s/%s/tar.gz/%s", parts[0], parts[1], ref);
        source->shown = g_strdup(source->text);
        return 0;
}

static int parse_url(RemoteSource *source, sd_bus_error *reterr) {
        source->plain = g_ascii_strncasecmp(source->text, "http://", 7) == 0;
        if (!source->plain && g_ascii_strncasecmp(source->text, "https://", 8) != 0)
                return errors_set(reterr, ERROR_NOT_SUPPORTED, "A bundle is fetched by https, or by http from this machine, and by "
                                                               "nothing else.");
        source->url = g_strdup(source->text);
        source->shown = remote_source_show(source->text);
        return check_url(source, reterr);
}

int remote_source_parse(const char *text, RemoteSource **ret, sd_bus_error *reterr) {
        g_autoptr(RemoteSource) source = NULL;
        int r;

        if (strlen(text) > DOWNLOAD_URL_BYTES_MAX || !is_printable(text))
                return errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "An address is made of at most %u letters, digits and signs, without spaces.", DOWNLOAD_URL_BYTES_MAX);

        source = g_new0(RemoteSource, 1);
        source->text = g_strdup(text);
        r = g_str_has_prefix(text, GITHUB) ? parse_github(source, reterr) : parse_url(source, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&source);
        return 0;
}
