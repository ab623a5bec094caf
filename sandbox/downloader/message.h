/* SPDX-License-Identifier: MIT */
#pragma once

/* What the download helper says on its standard output, and what it is told on its standard input. No text of a server is
 * passed on: kinds and numbers only, so that nothing there can pose as words of the service.
 *
 * In: the address, up to the end of input. Out: messages of one letter and a size, each followed by so many bytes. */

#include <stdint.h>

#define DOWNLOAD_PROGRAM      "codewhale-download"
#define DOWNLOAD_CHUNK_BYTES  (64u * 1024u)

typedef enum DownloadLetter {
        DOWNLOAD_TOTAL = 'T',  /* how many bytes will come, uint64; left out when the server does not say */
        DOWNLOAD_DATA  = 'D',  /* at most DOWNLOAD_CHUNK_BYTES */
        DOWNLOAD_END   = 'E',  /* a DownloadEnd; the last message */
} DownloadLetter;

typedef struct __attribute__((packed)) DownloadHeader {
        uint8_t letter;
        uint32_t size; /* little endian, as all numbers here: both ends are one machine */
} DownloadHeader;

typedef enum DownloadKind {
        DOWNLOAD_OK,
        DOWNLOAD_UNREACHABLE,     /* no such host, nobody listens */
        DOWNLOAD_UNTRUSTED,       /* the certificate is not good */
        DOWNLOAD_STATUS,          /* @number: the status that the server answered with */
        DOWNLOAD_REDIRECTS,       /* too many, or one to where we don't go */
        DOWNLOAD_TOO_LARGE,
        DOWNLOAD_TOO_SLOW,
        DOWNLOAD_BROKEN,          /* it ended before its end */
        DOWNLOAD_INTERNAL,        /* @number: the error of the library */
        DOWNLOAD_FORBIDDEN,       /* of a page: the address that it leads to may not be reached */
        DOWNLOAD_ELSEWHERE,       /* of a page: it leads to another origin, which was told; @number: the status */
        DOWNLOAD_UNWANTED,        /* of a page: what comes is no text */
        _DOWNLOAD_KIND_MAX,
        _DOWNLOAD_KIND_INVALID = -22,
} DownloadKind;

typedef struct __attribute__((packed)) DownloadEnd {
        uint32_t kind;
        uint32_t number;
} DownloadEnd;
