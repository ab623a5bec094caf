/* SPDX-License-Identifier: MIT */

/* codewhale-download: fetches one archive and hands its bytes on, or is the core tool web_fetch (web-fetch.h). A program of its own, so that nothing that talks to a
 * network has any authority: it runs in a unit that sees certificates and the resolver's files and can write nowhere. */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/limits.h"
#include "sandbox/downloader/fetch.h"
#include "sandbox/downloader/web-fetch.h"

static bool write_all(const void *bytes, size_t size) {
        const char *at = bytes;

        while (size > 0) {
                ssize_t n = write(STDOUT_FILENO, at, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return false;
                at += n;
                size -= (size_t) n;
        }
        return true;
}

static bool say(DownloadLetter letter, const void *bytes, uint32_t size) {
        DownloadHeader header = { .letter = (uint8_t) letter, .size = size };

        return write_all(&header, sizeof header) && write_all(bytes, size);
}

static bool on_total(uint64_t bytes, void *userdata) {
        (void) userdata;
        return say(DOWNLOAD_TOTAL, &bytes, sizeof bytes);
}

static bool on_data(const void *data, uint32_t size, void *userdata) {
        (void) userdata;
        return say(DOWNLOAD_DATA, data, size);
}

/* The service ended, perhaps by a kill: nobody wants the rest. */
static bool listens(void *userdata) {
        struct pollfd channel = { .fd = STDOUT_FILENO, .events = POLLOUT };

        (void) userdata;
        return poll(&channel, 1, 0) <= 0 || !(channel.revents & (POLLHUP | POLLERR));
}

/* The address comes by a way that no list of processes shows. */
static bool read_url(char *ret, size_t size) {
        size_t filled = 0;
        ssize_t n;

        while (filled < size - 1 && (n = read(STDIN_FILENO, ret + filled, size - 1 - filled)) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return false;
                filled += (size_t) n;
        }
        ret[filled] = '\0';
        return filled > 0 && filled < size - 1;
}

int main(int argc, char **argv) {
        static const FetchEvents events = { .total = on_total, .data = on_data, .listens = listens };
        static char url[DOWNLOAD_URL_BYTES_MAX + 2];
        FetchOptions options = {
                .url = url,
                .ca_file = argc > 1 ? argv[1] : NULL,
                .bytes_max = DOWNLOAD_BYTES_MAX,
                .redirects_max = DOWNLOAD_REDIRECTS_MAX,
                .msec_max = DOWNLOAD_SECONDS_MAX * 1000,
                .connect_seconds = DOWNLOAD_CONNECT_SECONDS,
                .slow_seconds = DOWNLOAD_SLOW_SECONDS,
                .slow_bytes = DOWNLOAD_SLOW_BYTES,
        };
        DownloadEnd end;

        (void) signal(SIGPIPE, SIG_IGN);
        (void) prctl(PR_SET_DUMPABLE, 0);
        if (argc > 1 && strcmp(argv[1], WEB_FETCH_OPTION) == 0)
                return web_fetch_main(argc - 2, argv + 2);
        if (argc > 2 || !read_url(url, sizeof url)) {
                (void) fprintf(stderr, "codewhale-download: reads an address from standard input; is for the service only\n");
                return EXIT_FAILURE;
        }
        end = fetch_run(&options, &events, NULL);
        return say(DOWNLOAD_END, &end, sizeof end) ? EXIT_SUCCESS : EXIT_FAILURE;
}
