/* SPDX-License-Identifier: MIT */
#pragma once

/* Templates with exactly two variables, {{model}} and {{cwd}} (contract 4.3). */

#include <glib.h>
#include <stddef.h>

/**
 * interpolation_check() - whether a template is well-formed
 *
 * An opening {{ that no }} follows is plain text. What stands between {{ and the next }} must be a known
 * variable exactly:
 * {{model_id}}, {{}}, {{ model }} and {{{cwd}} are refused.
 *
 * Return: 0 or -EINVAL; @ret_bad, unless NULL, is where the malformed variable begins.
 */
int interpolation_check(const char *text, size_t *ret_bad);

/**
 * interpolation_expand() - put the values in; they are not scanned again
 * @bytes_max: of the result
 *
 * Return: 0; -E2BIG over the limit; -EINVAL for what interpolation_check() refuses. The result is appended
 * to @out, which is unchanged on failure.
 */
int interpolation_expand(
                const char *text, const char *model, const char *cwd, size_t bytes_max, GString *out);
