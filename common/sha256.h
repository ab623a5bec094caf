/* SPDX-License-Identifier: MIT */
#pragma once

/* SHA-256, and the small rules that keep a hash over several fields unambiguous. */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_HEX_CHARS 64

typedef struct Sha256 Sha256;

Sha256 *sha256_new(void);
Sha256 *sha256_free(Sha256 *hash);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sha256, sha256_free)

void sha256_update(Sha256 *hash, const void *data, size_t size);

/** sha256_update_text() - the text and its NUL, so that neighbouring fields can't run into each other */
void sha256_update_text(Sha256 *hash, const char *text);

/** sha256_update_u64() - a number as eight bytes, little endian */
void sha256_update_u64(Sha256 *hash, uint64_t number);

/** sha256_update_framed() - a length (sha256_update_u64()) and then the bytes */
void sha256_update_framed(Sha256 *hash, const void *data, size_t size);

/** sha256_finish() - the digest; nothing may be added afterwards */
void sha256_finish(Sha256 *hash, uint8_t ret[static SHA256_BYTES]);

/** sha256_finish_hex() - the digest as 64 lower-case hex digits; a new string */
char *sha256_finish_hex(Sha256 *hash);

/** sha256_hex() - the digest of one run of bytes as 64 lower-case hex digits; a new string */
char *sha256_hex(const void *data, size_t size);
