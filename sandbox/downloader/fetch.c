/* SPDX-License-Identifier: MIT */
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/address.h"
#include "sandbox/downloader/fetch.h"

typedef struct Fetch {
        const FetchOptions *options;
        const FetchEvents *events;
        void *userdata;
        CURL *easy;
        bool plain;      /* http: to this machine only */
        bool told_total, told_head;
        bool too_large, strayed, forbidden, unwanted;
        uint64_t n_bytes;
} Fetch;

/* The name was checked, but only the address tells where the bytes go: "localhost" is whatever a resolver says. */
static curl_socket_t on_open(void *userdata, curlsocktype purpose, struct curl_sockaddr *address) {
        Fetch *fetch = userdata;

        (void) purpose;
        if (fetch->plain && address_kind(&address->addr) != ADDRESS_LOOPBACK) {
                fetch->strayed = true;
                return CURL_SOCKET_BAD;
        }
        if (fetch->events->reaches && !fetch->events->reaches(&address->addr, fetch->userdata)) {
                fetch->forbidden = true;
                return CURL_SOCKET_BAD;
        }
        return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool tell_total(Fetch *fetch) {
        curl_off_t length = -1;

        if (fetch->told_total)
                return true;
        fetch->told_total = true;
        if (curl_easy_getinfo(fetch->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) != CURLE_OK || length < 0)
                return true;
        if ((uint64_t) length > fetch->options->bytes_max) {
                fetch->too_large = true;
                return false;
        }
        return fetch->events->total((uint64_t) length, fetch->userdata);
}

static bool is_page(const Fetch *fetch) {
        return fetch->events->moved != NULL;
}

static bool is_success(const Fetch *fetch, long status) {
        return status == 200 || (is_page(fetch) && status > 200 && status < 300);
}

static bool tell_head(Fetch *fetch, long status) {
        struct curl_header *encoding = NULL;
        const char *type = NULL;
        bool encoded;

        if (fetch->told_head || !fetch->events->head)
                return true;
        fetch->told_head = true;
        (void) curl_easy_getinfo(fetch->easy, CURLINFO_CONTENT_TYPE, &type);
        encoded = curl_easy_header(fetch->easy, "Content-Encoding", 0, CURLH_HEADER, -1, &encoding) == CURLHE_OK &&
                        strcasecmp(encoding->value, "identity") != 0;
        fetch->unwanted = !fetch->events->head(status, type, encoded, fetch->userdata);
        return !fetch->unwanted;
}

static size_t on_data(char *data, size_t one, size_t size, void *userdata) {
        Fetch *fetch = userdata;
        long status = 0;

        (void) one;
        /* What comes with a redirect or an error is no bundle. */
        (void) curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
        if (!is_success(fetch, status))
                return size;
        if (!tell_head(fetch, status) || !tell_total(fetch))
                return CURL_WRITEFUNC_ERROR;
        fetch->n_bytes += size;
        if (fetch->n_bytes > fetch->options->bytes_max) {
                fetch->too_large = true;
                return CURL_WRITEFUNC_ERROR;
        }
        for (size_t at = 0; at < size; at += DOWNLOAD_CHUNK_BYTES) {
                size_t part = size - at < DOWNLOAD_CHUNK_BYTES ? size - at : DOWNLOAD_CHUNK_BYTES;

                if (!fetch->events->data(data + at, (uint32_t) part, fetch->userdata))
                        return CURL_WRITEFUNC_ERROR;
        }
        return size;
}

/* About once a second, also while nothing comes. */
static int on_progress(void *userdata, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now) {
        Fetch *fetch = userdata;

        (void) total;
        (void) now;
        (void) up_total;
        (void) up_now;
        return !fetch->events->listens(fetch->userdata);
}

static void set_limits(Fetch *fetch) {
        const FetchOptions *options = fetch->options;

        (void) curl_easy_setopt(fetch->easy, CURLOPT_NOSIGNAL, 1L);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_NOPROGRESS, 0L);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_XFERINFODATA, fetch);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_CONNECTTIMEOUT, (long) options->connect_seconds);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_LOW_SPEED_TIME, (long) options->slow_seconds);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_LOW_SPEED_LIMIT, (long) options->slow_bytes);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t) options->bytes_max);
}

/* Nothing of the surroundings counts: no proxy, no password file, no cookie, no referrer. */
static void set_manners(Fetch *fetch) {
        (void) curl_easy_setopt(fetch->easy, CURLOPT_PROXY, "");
        (void) curl_easy_setopt(fetch->easy, CURLOPT_NETRC, (long) CURL_NETRC_IGNORED);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_FOLLOWLOCATION, 0L);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_USERAGENT, "codewhale-extensions");
        (void) curl_easy_setopt(fetch->easy, CURLOPT_SSL_VERIFYPEER, 1L);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_SSL_VERIFYHOST, 2L);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_SSLVERSION, (long) CURL_SSLVERSION_TLSv1_2);
        if (fetch->options->ca_file)
                (void) curl_easy_setopt(fetch->easy, CURLOPT_CAINFO, fetch->options->ca_file);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_OPENSOCKETDATA, fetch);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_WRITEFUNCTION, on_data);
        (void) curl_easy_setopt(fetch->easy, CURLOPT_WRITEDATA, fetch);
}

static DownloadEnd end_of(DownloadKind kind, uint32_t number) {
        return (DownloadEnd) { .kind = kind, .number = number };
}

static DownloadEnd explain(const Fetch *fetch, CURLcode code) {
        if (fetch->too_large)
                return end_of(DOWNLOAD_TOO_LARGE, 0);
        if (fetch->unwanted)
                return end_of(DOWNLOAD_UNWANTED, 0);
        if (fetch->forbidden)
                return end_of(DOWNLOAD_FORBIDDEN, 0);
        if (fetch->strayed)
                return end_of(DOWNLOAD_UNREACHABLE, 0);
        switch (code) {
        case CURLE_FILESIZE_EXCEEDED:
                return end_of(DOWNLOAD_TOO_LARGE, 0);
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
                return end_of(DOWNLOAD_UNREACHABLE, 0);
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
                return end_of(DOWNLOAD_UNTRUSTED, 0);
        case CURLE_OPERATION_TIMEDOUT:
                return end_of(DOWNLOAD_TOO_SLOW, 0);
        case CURLE_PARTIAL_FILE:
        case CURLE_GOT_NOTHING:
        case CURLE_RECV_ERROR:
        case CURLE_SEND_ERROR:
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_HTTP2:
        case CURLE_HTTP2_STREAM:
                return end_of(DOWNLOAD_BROKEN, 0);
        default:
                return end_of(DOWNLOAD_INTERNAL, (uint32_t) code);
        }
}

/* Whether a redirect stays with the scheme, and carries no name or password. */
static bool is_like_the_first(const Fetch *fetch, const char *url) {
        CURLU *parsed = curl_url();
        char *scheme = NULL, *user = NULL;
        bool good = parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
                        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                        strcmp(scheme, fetch->plain ? "http" : "https") == 0 &&
                        curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_NO_USER;

        curl_free(scheme);
        curl_free(user);
        curl_url_cleanup(parsed);
        return good;
}

static bool is_same_part(CURLU *a, CURLU *b, CURLUPart part) {
        char *x = NULL, *y = NULL;
        bool same = curl_url_get(a, part, &x, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                        curl_url_get(b, part, &y, CURLU_DEFAULT_PORT) == CURLUE_OK && strcasecmp(x, y) == 0;

        curl_free(x);
        curl_free(y);
        return same;
}

/* What was allowed is a host, not where it sends people on. */
static bool is_within_origin(const Fetch *fetch, const char *url) {
        CURLU *first = curl_url(), *next = curl_url();
        bool same = first && next && curl_url_set(first, CURLUPART_URL, fetch->options->url, 0) == CURLUE_OK &&
                        curl_url_set(next, CURLUPART_URL, url, 0) == CURLUE_OK && is_same_part(first, next, CURLUPART_SCHEME) &&
                        is_same_part(first, next, CURLUPART_HOST) && is_same_part(first, next, CURLUPART_PORT);

        curl_url_cleanup(first);
        curl_url_cleanup(next);
        return same;
}

static uint64_t now_msec(void) {
        struct timespec now = {};

        (void) clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* libcurl counts for each request by itself; a server that leads on gets no more time for that. */
static CURLcode perform(Fetch *fetch, uint64_t due_msec) {
        uint64_t now = now_msec();

        if (now >= due_msec)
                return CURLE_OPERATION_TIMEDOUT;
        (void) curl_easy_setopt(fetch->easy, CURLOPT_TIMEOUT_MS, (long) (due_msec - now));
        return curl_easy_perform(fetch->easy);
}

static DownloadEnd get(Fetch *fetch) {
        uint64_t due_msec = now_msec() + fetch->options->msec_max;
        char *next = NULL;
        long status = 0;

        (void) curl_easy_setopt(fetch->easy, CURLOPT_URL, fetch->options->url);
        for (unsigned hops = 0; hops <= fetch->options->redirects_max; hops++) {
                CURLcode code = perform(fetch, due_msec);

                if (code != CURLE_OK)
                        return explain(fetch, code);
                (void) curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
                if (is_success(fetch, status))
                        return end_of(DOWNLOAD_OK, (uint32_t) status);
                if (curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &next) != CURLE_OK || !next)
                        return end_of(DOWNLOAD_STATUS, (uint32_t) status);
                if (is_page(fetch) && !is_within_origin(fetch, next)) {
                        fetch->events->moved(next, fetch->userdata);
                        return end_of(DOWNLOAD_ELSEWHERE, (uint32_t) status);
                }
                if (!is_like_the_first(fetch, next))
                        return end_of(DOWNLOAD_REDIRECTS, hops + 1);
                (void) curl_easy_setopt(fetch->easy, CURLOPT_URL, next); /* it copies the text */
        }
        return end_of(DOWNLOAD_REDIRECTS, fetch->options->redirects_max);
}

DownloadEnd fetch_run(const FetchOptions *options, const FetchEvents *events, void *userdata) {
        Fetch fetch = {
                .options = options, .events = events, .userdata = userdata, .plain = strncasecmp(options->url, "http://", 7) == 0,
        };
        DownloadEnd end;

        if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
                return end_of(DOWNLOAD_INTERNAL, 0);
        fetch.easy = curl_easy_init();
        if (!fetch.easy)
                return end_of(DOWNLOAD_INTERNAL, 0);

        set_limits(&fetch);
        set_manners(&fetch);
        (void) curl_easy_setopt(fetch.easy, CURLOPT_PROTOCOLS_STR, fetch.plain ? "http" : "https");
        end = get(&fetch);
        curl_easy_cleanup(fetch.easy);
        return end;
}
