/* SPDX-License-Identifier: MIT */
#pragma once

/* One download with libcurl: https from anywhere, http from this machine. It knows nothing of what it fetches, and nothing of
 * the surroundings counts: no proxy, password, cookie or referrer. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sandbox/downloader/message.h"

typedef struct FetchOptions {
        const char *url;
        const char *ca_file;  /* NULL, or certificates that are trusted beside the system's */
        uint64_t bytes_max;
        unsigned msec_max; /* for all of it, redirects included */
        unsigned redirects_max, connect_seconds, slow_seconds, slow_bytes;
} FetchOptions;

typedef struct FetchEvents {
        /* Each returns false when nobody listens any more; the download ends then. */
        bool (*total)(uint64_t bytes, void *userdata);
        bool (*data)(const void *data, uint32_t size, void *userdata);
        bool (*listens)(void *userdata); /* whether anybody does; asked now and then */

        /* For a page, NULL otherwise. With them any status of success counts, and redirects stay within the origin (scheme, host
         * and port) of the first address. */
        bool (*reaches)(const struct sockaddr *address, void *userdata); /* whether to connect there; asked for each connection */
        bool (*head)(long status, const char *type, bool encoded, void *userdata); /* before the first data; false: not wanted */
        void (*moved)(const char *url, void *userdata); /* the other origin that it would lead to */
} FetchEvents;

/** fetch_run() - do it; blocks. Redirects are followed by hand: each goes where the first address might have gone. */
DownloadEnd fetch_run(const FetchOptions *options, const FetchEvents *events, void *userdata);
