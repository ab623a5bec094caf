/* SPDX-License-Identifier: MIT */
#pragma once

/* The TOML library, which is C++, behind one function. Only common/toml.h and the fuzzer call it: what the library touches, and
 * what a malformed text may do to it, is to stay out of the daemon's own process. */

#include "common/toml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A key or a value begins at this byte of the JSON, and began in this line and column of the text. */
typedef struct TomlPlace {
        size_t offset;
        size_t line;   /* from 1 */
        size_t column; /* from 1 */
} TomlPlace;

/**
 * toml_read() - as toml_to_json_lines(), in this very process
 * @ret_places: in ascending order; g_free() them
 */
int toml_read(const char *text, size_t size, char **ret_json, TomlPlace **ret_places, size_t *ret_n_places, TomlError *reterr);

/** toml_lines_new() - a copy of places, as toml_to_json_lines() returns them */
TomlLines *toml_lines_new(const void *places, size_t n_places);

#ifdef __cplusplus
}
#endif
