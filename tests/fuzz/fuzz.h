/* SPDX-License-Identifier: MIT */
#pragma once

/* A fuzz target: with -Dfuzz=true libFuzzer calls it, else run-corpus.c shows it the files of its corpus. */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert() never compiled out. */
#define MUST(condition)                                                                                               \
        do {                                                                                                          \
                if (!(condition))                                                                                     \
                        __builtin_trap();                                                                             \
        } while (0)
