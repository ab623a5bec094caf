/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/**
 * metaschema_find() - the text of a metaschema or of one of its vocabularies
 * @uri: without fragment
 *
 * Written anew from the specifications: they accept the same schemas as what json-schema.org publishes.
 *
 * Return: 0; -ENOENT.
 */
int metaschema_find(const char *uri, const char **ret_text, size_t *ret_size);
