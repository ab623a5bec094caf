/* SPDX-License-Identifier: MIT */
#include <curl/curl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/address.h"
#include "common/cleanup.h"
#include "common/jdoc.h"
#include "common/limits.h"
#include "sandbox/core-tool/answer.h"
#include "sandbox/core-tool/exchange.h"
#include "sandbox/downloader/fetch.h"
#include "sandbox/downloader/web-fetch.h"

typedef struct Page {
        int channel;
        Answer *answer;
        AddressPrefix private[CORE_WEB_PRIVATE_MAX];
        unsigned n_private;
        unsigned msec_max;
        const char *certificates;
        char *host;     /* as the address names it, without brackets */
        char *type;     /* what the server says that it is; NULL for nothing */
        bool latin;     /* each byte is a character */
        bool encoded;
        GString *body;
} Page;

static void page_done(Page *page) {
        g_free(page->host);
        g_free(page->type);
        if (page->body)
                (void) g_string_free(page->body, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Page, page_done)

/* ---- where to ---- */

/* Nothing that a resolver says makes another name one of this machine. */
static bool names_loopback(const char *host) {
        return g_ascii_strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
                        (g_str_has_prefix(host, "127.") && strspn(host, "0123456789.") == strlen(host));
}

static bool on_reaches(const struct sockaddr *address, void *userdata) {
        const Page *page = userdata;
        AddressKind kind = address_kind(address);

        if (kind == ADDRESS_PUBLIC || (kind == ADDRESS_LOOPBACK && names_loopback(page->host)))
                return true;
        for (unsigned i = 0; i < page->n_private; i++)
                if (address_prefix_contains(&page->private[i], address))
                        return true;
        return false;
}

static char *part_of(CURLU *url, CURLUPart part) {
        g_autofree char *text = NULL;
        char *found = NULL;

        if (curl_url_get(url, part, &found, 0) == CURLUE_OK)
                text = g_strdup(found);
        curl_free(found);
        return g_steal_pointer(&text);
}

/* "127.1", "2130706433" and "0x7f.1" are addresses to a library and names to a person, who was shown the text. */
static bool is_written_as(const char *url, const char *host) {
        const char *authority = strstr(url, "://");

        return authority && g_ascii_strncasecmp(authority + 3, host, strlen(host)) == 0;
}

/* The service has checked the shape of it (the tool's schema); here it is taken apart by whom it will be used. */
static bool check_url(Page *page, const char *url) {
        CURLU *parsed = curl_url();
        g_autofree char *scheme = NULL, *host = NULL, *user = NULL;

        if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK) {
                scheme = part_of(parsed, CURLUPART_SCHEME);
                host = part_of(parsed, CURLUPART_HOST);
                user = part_of(parsed, CURLUPART_USER);
        }
        curl_url_cleanup(parsed);
        if (!scheme || !host || user || (strcmp(scheme, "https") != 0 && strcmp(scheme, "http") != 0)) {
                answer_fail(page->answer, "This is no address of a page.");
                return false;
        }
        if (!is_written_as(url, host)) {
                answer_fail(page->answer, "The host of this address is another way to write %s; name that one.", host);
                return false;
        }
        page->host = host[0] == '[' ? g_strndup(host + 1, strcspn(host + 1, "]")) : g_steal_pointer(&host);
        if (strcmp(scheme, "http") == 0 && !names_loopback(page->host)) {
                answer_fail(page->answer, "http is for this machine only; use https.");
                return false;
        }
        return true;
}

/* ---- what comes ---- */

static bool is_of_text(const char *type) {
        static const char *const known[] = { "application/json", "application/xml", "application/javascript", "application/x-yaml",
                                             "application/yaml", "application/toml", "application/x-ndjson" };

        if (g_str_has_prefix(type, "text/") || g_str_has_suffix(type, "+json") || g_str_has_suffix(type, "+xml"))
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
                if (strcmp(type, known[i]) == 0)
                        return true;
        return false;
}

/* "text/html; charset=..." in lower case, and nothing that a media type can't hold. */
static char *media_type_of(const char *header) {
        g_autofree char *type = g_ascii_strdown(header, (gssize) strcspn(header, "; \t"));

        return strlen(type) <= 100 && type[strspn(type, "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-/")] == '\0'
                               ? g_steal_pointer(&type) : NULL;
}

static bool is_latin(const char *header) {
        g_autofree char *lower = g_ascii_strdown(header, -1);
        const char *charset = strstr(lower, "charset=");

        charset = charset ? charset + strlen("charset=") : "";
        if (*charset == '"')
                charset++;
        return g_str_has_prefix(charset, "iso-8859-1") || g_str_has_prefix(charset, "latin1") || g_str_has_prefix(charset, "windows-1252");
}

static bool on_head(long status, const char *type, bool encoded, void *userdata) {
        Page *page = userdata;

        (void) status;
        page->type = type ? media_type_of(type) : NULL;
        page->latin = type && is_latin(type);
        page->encoded = encoded;
        return !encoded && (!type || (page->type && is_of_text(page->type)));
}

static bool on_total(uint64_t bytes, void *userdata) {
        (void) bytes;
        (void) userdata;
        return true;
}

static bool on_data(const void *data, uint32_t size, void *userdata) {
        Page *page = userdata;

        (void) g_string_append_len(page->body, data, size);
        return true;
}

static bool listens(void *userdata) {
        const Page *page = userdata;
        struct pollfd channel = { .fd = page->channel, .events = POLLOUT };

        return poll(&channel, 1, 0) <= 0 || !(channel.revents & (POLLHUP | POLLERR));
}

/* The text is a server's, so only what can be called as it stands is repeated. */
static void on_moved(const char *url, void *userdata) {
        Page *page = userdata;
        bool sound = strlen(url) <= DOWNLOAD_URL_BYTES_MAX;

        for (const char *at = url; *at; at++)
                sound = sound && g_ascii_isgraph(*at) && !strchr("\\\"<>^`{|}", *at);
        if (!sound) {
                answer_fail(page->answer, "The page leads on to an address that can't be used.");
                return;
        }
        answer_fail(page->answer, "The page leads on to %s, which is another place; ask for that, if it is what you want.", url);
        jwriter_member_string(answer_facts(page->answer), "location", url);
}

static char *utf8_of_latin(const GString *body) {
        g_autoptr(GString) text = g_string_sized_new(body->len);

        for (size_t i = 0; i < body->len; i++)
                g_string_append_unichar(text, (unsigned char) body->str[i]);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void tell_page(Page *page, uint32_t status) {
        g_autofree char *text = NULL;

        if (memchr(page->body->str, '\0', page->body->len)) {
                answer_fail(page->answer, "What is there is no text (%zu bytes).", page->body->len);
                return;
        }
        text = page->latin ? utf8_of_latin(page->body) : g_utf8_make_valid(page->body->str, (gssize) page->body->len);
        answer_add(page->answer, text, strlen(text));
        jwriter_member_uint(answer_facts(page->answer), "status", status);
        if (page->type)
                jwriter_member_string(answer_facts(page->answer), "content_type", page->type);
        jwriter_member_uint(answer_facts(page->answer), "bytes", page->body->len);
}

static void tell_end(Page *page, const DownloadEnd *end) {
        static const char *const words[_DOWNLOAD_KIND_MAX] = {
                [DOWNLOAD_UNREACHABLE] = "It can't be reached: there is no such host, or nobody answers there.",
                [DOWNLOAD_UNTRUSTED] = "It can't be trusted: its certificate is not good.",
                [DOWNLOAD_REDIRECTS] = "It leads on too often, or to where nothing is fetched from.",
                [DOWNLOAD_TOO_SLOW] = "It comes too slowly, or not at all.",
                [DOWNLOAD_BROKEN] = "It ended before its end.",
                [DOWNLOAD_FORBIDDEN] = "Its name leads into this machine or a network that is not the world's, and [core] "
                                       "web_fetch_private does not hold that address.",
        };

        switch ((DownloadKind) end->kind) {
        case DOWNLOAD_OK:
                tell_page(page, end->number);
                return;
        case DOWNLOAD_ELSEWHERE:
                return; /* was told */
        case DOWNLOAD_STATUS:
                answer_fail(page->answer, "The server answered with status %u.", end->number);
                jwriter_member_uint(answer_facts(page->answer), "status", end->number);
                return;
        case DOWNLOAD_TOO_LARGE:
                answer_fail(page->answer, "It is larger than %zu bytes.", CORE_WEB_BYTES_MAX);
                return;
        case DOWNLOAD_UNWANTED:
                answer_fail(page->answer, page->encoded ? "It comes packed, although nobody asked for that."
                                                        : "What is there is no text; its type is %s.", page->type ?: "none that can be told");
                return;
        default:
                break;
        }
        if (end->kind < _DOWNLOAD_KIND_MAX && words[end->kind])
                answer_fail(page->answer, "%s", words[end->kind]);
        else
                answer_fail(page->answer, "It can't be fetched (libcurl error %u).", end->number);
}

/* ---- the call ---- */

static void fetch(Page *page, const char *url) {
        static const FetchEvents events = {
                .total = on_total, .data = on_data, .listens = listens, .reaches = on_reaches, .head = on_head, .moved = on_moved,
        };
        const FetchOptions options = {
                .url = url,
                .ca_file = page->certificates,
                .bytes_max = CORE_WEB_BYTES_MAX,
                .redirects_max = CORE_WEB_REDIRECTS_MAX,
                .msec_max = page->msec_max,
                .connect_seconds = DOWNLOAD_CONNECT_SECONDS,
                .slow_seconds = DOWNLOAD_SLOW_SECONDS,
                .slow_bytes = DOWNLOAD_SLOW_BYTES,
        };
        DownloadEnd end;

        page->body = g_string_new(NULL);
        end = fetch_run(&options, &events, page);
        tell_end(page, &end);
}

static bool read_msec(const char *text, unsigned *ret) {
        guint64 msec;

        if (!g_ascii_string_to_unsigned(text, 10, 1, CORE_WEB_SECONDS_MAX * 1000, &msec, NULL))
                return false;
        *ret = (unsigned) msec;
        return true;
}

static bool read_options(Page *page, int argc, char **argv) {
        for (int i = 0; i < argc; i++) {
                if (g_str_has_prefix(argv[i], WEB_FETCH_CERTIFICATES))
                        page->certificates = argv[i] + strlen(WEB_FETCH_CERTIFICATES);
                else if (g_str_has_prefix(argv[i], WEB_FETCH_MSEC)) {
                        if (!read_msec(argv[i] + strlen(WEB_FETCH_MSEC), &page->msec_max))
                                return false;
                } else if (!g_str_has_prefix(argv[i], WEB_FETCH_PRIVATE) || page->n_private >= CORE_WEB_PRIVATE_MAX ||
                                address_prefix_parse(argv[i] + strlen(WEB_FETCH_PRIVATE), &page->private[page->n_private++]) < 0)
                        return false;
        }
        return true;
}

int web_fetch_main(int argc, char **argv) {
        g_autofree char *payload = NULL, *json = NULL;
        g_autoptr(Jdoc) request = NULL;
        g_auto(Answer) answer = {};
        g_auto(Page) page = {
                .answer = &answer, .channel = exchange_take_channel(), .msec_max = CORE_WEB_SECONDS_MAX * 1000,
        };
        size_t size, json_size;
        const char *url;

        answer_init(&answer);
        if (!read_options(&page, argc, argv) || page.channel < 0 || exchange_receive(page.channel, &payload, &size) < 0 ||
                        jdoc_parse(payload, size, NULL, &request, NULL) < 0)
                return EXIT_FAILURE;

        url = jval_text(jval_member(jval_member(jdoc_root(request), "input"), "url"));
        if (!url)
                answer_fail(&answer, "This is no address of a page.");
        else if (check_url(&page, url))
                fetch(&page, url);
        json = answer_to_json(&answer, &json_size);
        return exchange_send(page.channel, json, json_size) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
