/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/sha256.h"

struct Sha256 {
        GChecksum *checksum;
};

Sha256 *sha256_new(void) {
        Sha256 *hash = g_new0(Sha256, 1);

        hash->checksum = g_checksum_new(G_CHECKSUM_SHA256);
        return hash;
}

Sha256 *sha256_free(Sha256 *hash) {
        if (!hash)
                return NULL;

        g_checksum_free(hash->checksum);
        g_free(hash);
        return NULL;
}

void sha256_update(Sha256 *hash, const void *data, size_t size) {
        /* A negative length would make GLib look for a NUL. */
        while (size > 0) {
                size_t part = MIN(size, (size_t) G_MAXINT32);

                g_checksum_update(hash->checksum, data, (gssize) part);
                data = (const uint8_t *) data + part;
                size -= part;
        }
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
        gsize size = SHA256_BYTES;

        g_checksum_get_digest(hash->checksum, ret, &size);
}

char *sha256_finish_hex(Sha256 *hash) {
        return g_strdup(g_checksum_get_string(hash->checksum));
}

char *sha256_hex(const void *data, size_t size) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update(hash, data, size);
        return sha256_finish_hex(hash);
}
