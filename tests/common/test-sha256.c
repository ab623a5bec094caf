/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "common/sha256-block.h"
#include "common/sha256.h"

static void test_vectors(void) {
        /* FIPS 180-4 examples */
        static const struct {
                const char *text;
                const char *hex;
        } cases[] = {
                { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
                { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *hex = sha256_hex(cases[i].text, strlen(cases[i].text));

                g_assert_cmpstr(hex, ==, cases[i].hex);
                g_assert_cmpuint(strlen(hex), ==, SHA256_HEX_CHARS);
        }
}

static void test_parts_add_up(void) {
        g_autoptr(Sha256) hash = sha256_new();
        g_autofree char *whole = sha256_hex("one two", 7), *parts = NULL;
        uint8_t digest[SHA256_BYTES];
        g_autoptr(GString) from_bytes = g_string_new(NULL);

        sha256_update(hash, "one", 3);
        sha256_update(hash, "", 0);
        sha256_update(hash, " two", 4);
        parts = sha256_finish_hex(hash);
        g_assert_cmpstr(parts, ==, whole);

        g_clear_pointer(&hash, sha256_free);
        hash = sha256_new();
        sha256_update(hash, "one two", 7);
        sha256_finish(hash, digest);
        for (size_t i = 0; i < sizeof digest; i++)
                g_string_append_printf(from_bytes, "%02x", digest[i]);
        g_assert_cmpstr(from_bytes->str, ==, whole);
}

/* Every length around the block boundaries, in pieces of every size, against another implementation */
static void test_against_glib(void) {
        uint8_t data[300];

        for (size_t i = 0; i < sizeof data; i++)
                data[i] = (uint8_t) (i * 37 + 11);
        for (size_t size = 0; size <= sizeof data; size++) {
                g_autofree char *expected = g_compute_checksum_for_data(G_CHECKSUM_SHA256, data, size);
                size_t piece = size % 97 + 1;
                g_autoptr(Sha256) hash = sha256_new();
                g_autofree char *hex = NULL;

                for (size_t at = 0; at < size; at += piece)
                        sha256_update(hash, data + at, MIN(piece, size - at));
                hex = sha256_finish_hex(hash);
                g_assert_cmpstr(hex, ==, expected);
        }
}

static void test_plain_is_the_same(void) {
        uint8_t data[16 * SHA256_BLOCK_BYTES];
        uint32_t plain[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, chosen[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

        for (size_t i = 0; i < sizeof data; i++)
                data[i] = (uint8_t) g_test_rand_int();
        sha256_blocks_plain(plain, data, 16);
        sha256_blocks_choose()(chosen, data, 16);
        g_assert_cmpmem(plain, sizeof plain, chosen, sizeof chosen);
}

typedef void (*Update)(Sha256 *hash, const char *text);

static void update_framed(Sha256 *hash, const char *text) {
        sha256_update_framed(hash, text, strlen(text));
}

static char *hash_of_fields(Update update, const char *first, const char *second) {
        g_autoptr(Sha256) hash = sha256_new();

        update(hash, first);
        update(hash, second);
        return sha256_finish_hex(hash);
}

/* Bytes moved from one field to its neighbour must change the digest. */
static void test_fields_stay_apart(void) {
        static const Update updates[] = { sha256_update_text, update_framed };
        static const char *const pairs[][2] = { { "ab", "c" }, { "a", "bc" }, { "abc", "" }, { "", "abc" } };

        for (size_t u = 0; u < G_N_ELEMENTS(updates); u++)
                for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
                        for (size_t j = 0; j < i; j++) {
                                g_autofree char *one = hash_of_fields(updates[u], pairs[i][0], pairs[i][1]);
                                g_autofree char *other = hash_of_fields(updates[u], pairs[j][0], pairs[j][1]);

                                g_assert_cmpstr(one, !=, other);
                        }
}

static void test_number_is_little_endian(void) {
        static const uint8_t bytes[] = { 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01 };
        g_autoptr(Sha256) hash = sha256_new();
        g_autofree char *expected = sha256_hex(bytes, sizeof bytes), *hex = NULL;

        sha256_update_u64(hash, UINT64_C(0x0102030405060708));
        hex = sha256_finish_hex(hash);
        g_assert_cmpstr(hex, ==, expected);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/common/sha256/against-glib", test_against_glib);
        g_test_add_func("/common/sha256/plain-is-the-same", test_plain_is_the_same);
        g_test_add_func("/sha256/vectors", test_vectors);
        g_test_add_func("/sha256/parts-add-up", test_parts_add_up);
        g_test_add_func("/sha256/fields-stay-apart", test_fields_stay_apart);
        g_test_add_func("/sha256/number-is-little-endian", test_number_is_little_endian);
        return g_test_run();
}
