/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/sha256.h"
#include "common/sha256-block.h"

/* FIPS 180-4. With the processor's own instructions where it has them; GLib's plain C hashes at half the speed of
 * sha256sum and a tenth of what the instructions give, and every byte of every bundle passes through here. */
struct Sha256 {
        uint32_t state[8];
        uint64_t n_bytes;
        uint8_t pending[SHA256_BLOCK_BYTES];
        size_t n_pending;
        Sha256Blocks blocks;
};

Sha256 *sha256_new(void) {
        static const uint32_t initial[8] = {
                0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
        };
        Sha256 *hash = g_new0(Sha256, 1);

        memcpy(hash->state, initial, sizeof initial);
        hash->blocks = sha256_blocks_choose();
        return hash;
}

Sha256 *sha256_free(Sha256 *hash) {
        g_free(hash);
        return NULL;
}

static size_t fill_pending(Sha256 *hash, const uint8_t *data, size_t size) {
        size_t part = MIN(size, SHA256_BLOCK_BYTES - hash->n_pending);

        memcpy(hash->pending + hash->n_pending, data, part);
        hash->n_pending += part;
        if (hash->n_pending == SHA256_BLOCK_BYTES) {
                hash->blocks(hash->state, hash->pending, 1);
                hash->n_pending = 0;
        }
        return part;
}

void sha256_update(Sha256 *hash, const void *data, size_t size) {
        const uint8_t *at = data;

        hash->n_bytes += size;
        if (hash->n_pending > 0 && size > 0) {
                size_t part = fill_pending(hash, at, size);

                at += part;
                size -= part;
        }
        if (size >= SHA256_BLOCK_BYTES) {
                hash->blocks(hash->state, at, size / SHA256_BLOCK_BYTES);
                at += size - size % SHA256_BLOCK_BYTES;
                size %= SHA256_BLOCK_BYTES;
        }
        if (size > 0)
                (void) fill_pending(hash, at, size);
}

void sha256_update_text(Sha256 *hash, const char *text) {
        sha256_update(hash, text, strlen(text) + 1);
}

void sha256_update_u64(Sha256 *hash, uint64_t number) {
        uint64_t little = GUINT64_TO_LE(number);

        sha256_update(hash, &little, sizeof little);
}

void sha256_update_framed(Sha256 *hash, const void *data, size_t size) {
        sha256_update_u64(hash, size);
        sha256_update(hash, data, size);
}

void sha256_finish(Sha256 *hash, uint8_t ret[static SHA256_BYTES]) {
        static const uint8_t padding[SHA256_BLOCK_BYTES] = { 0x80 };
        uint64_t bits = GUINT64_TO_BE(hash->n_bytes * 8);
        size_t room = SHA256_BLOCK_BYTES - hash->n_pending;

        /* A one bit, zeros, and the length in the last eight bytes of a block */
        sha256_update(hash, padding, room > sizeof bits ? room - sizeof bits : room + SHA256_BLOCK_BYTES - sizeof bits);
        sha256_update(hash, &bits, sizeof bits);
        for (size_t i = 0; i < 8; i++) {
                uint32_t word = GUINT32_TO_BE(hash->state[i]);

                memcpy(ret + i * sizeof word, &word, sizeof word);
        }
}

char *sha256_finish_hex(Sha256 *hash) {
        static const char digits[] = "0123456789abcdef";
        char *hex = g_malloc(SHA256_HEX_CHARS + 1);
        uint8_t digest[SHA256_BYTES];

        sha256_finish(hash, digest);
        for (size_t i = 0; i < SHA256_BYTES; i++) {
                hex[2 * i] = digits[digest[i] >> 4];
                hex[2 * i + 1] = digits[digest[i] & 15];
        }
        hex[SHA256_HEX_CHARS] = '\0';
        return hex;
}

char *sha256_hex(const void *data, size_t size) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update(hash, data, size);
        return sha256_finish_hex(hash);
}
