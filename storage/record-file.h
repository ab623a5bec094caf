/* SPDX-License-Identifier: MIT */
#pragma once

/* One record as it lies in its file: {"version":1,"key":...,"value":...} and a newline (contract 4.4). */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"

/* The envelope around a value: the key may take six bytes for one where it is escaped. */
#define RECORD_FILE_BYTES_MAX (STORAGE_VALUE_BYTES_MAX + 6 * STORAGE_KEY_BYTES_MAX + 64)
#define RECORD_NAME_CHARS     69 /* 64 hex digits and ".json" */

/** record_key_check() - 0, or -EINVAL unless it is 1 to STORAGE_KEY_BYTES_MAX bytes of UTF-8 without NUL */
int record_key_check(const char *key, size_t size);

/** record_file_name() - the name of a key's file, with its NUL */
void record_file_name(const char *key, size_t size, char ret[static RECORD_NAME_CHARS + 1]);

/** record_name_check() - whether a name in the folder is that of a record */
int record_name_check(const char *name);

/**
 * record_value_check() - whether a text is one JSON value that may be kept
 * @ret_begin, @ret_size: the value without the white space around it
 *
 * Return: 0; -EINVAL when it is no value; -EDQUOT over STORAGE_VALUE_BYTES_MAX.
 */
int record_value_check(const char *json, size_t size, const char **ret_begin, size_t *ret_size);

/** record_encode() - the content of the file; a new text */
char *record_encode(
                const char *key, size_t key_size, const char *value, size_t value_size, size_t *ret_size);

/**
 * record_decode() - take a file's content apart
 * @name: of the file; the key must belong to it
 * @ret_key, @ret_value: NULL, or where to put copies
 *
 * Return: 0; -EBADMSG when anything is not as record_encode() writes it.
 */
int record_decode(const char *name, const char *data, size_t size, char **ret_key, char **ret_value,
                size_t *ret_value_size);
