/* SPDX-License-Identifier: MIT */
#pragma once

/* The inner function of SHA-256. For sha256.c and its tests. */

#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK_BYTES 64u

/* Works @count blocks into the state. */
typedef void (*Sha256Blocks)(uint32_t state[8], const uint8_t *data, size_t count);

/** sha256_blocks_plain() - in plain C, for every processor */
void sha256_blocks_plain(uint32_t state[8], const uint8_t *data, size_t count);

/** sha256_blocks_choose() - the fastest that this processor can */
Sha256Blocks sha256_blocks_choose(void);
