/* SPDX-License-Identifier: MIT */
#pragma once

/* TOML, by turning it into JSON text that common/jdoc.h then reads: one reader of values in the whole program. The TOML
 * library is C++ and stays behind this one function. */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the text is wrong. Never quotes the text: settings may hold secrets. */
typedef struct TomlError {
        size_t line;   /* from 1 */
        size_t column; /* from 1 */
        char description[160];
} TomlError;

/**
 * toml_to_json() - read a TOML 1.0 document
 * @text:     UTF-8, not ended by NUL
 * @ret_json: the document as JSON; dates and times become strings, infinities and NaN are refused; g_free() it
 *
 * Return: 0; -EBADMSG with @reterr filled in when it is no TOML; -ENOMEM.
 */
int toml_to_json(const char *text, size_t size, char **ret_json, TomlError *reterr);

#ifdef __cplusplus
}
#endif
