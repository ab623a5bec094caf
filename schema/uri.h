/* SPDX-License-Identifier: MIT */
#pragma once

/* References to schemas: RFC 3986, section 5, on text alone. */

#include <glib.h>

/** uri_resolve() - @reference as seen from @base; a new string. Either may be relative; the fragment stays */
char *uri_resolve(const char *base, const char *reference);

/** uri_split_fragment() - cuts @uri at its '#'; returns what follows, or NULL when there was none */
char *uri_split_fragment(char *uri);

/** uri_unescape() - resolves %XX in a new string; NULL when that gives NUL or no UTF-8 */
char *uri_unescape(const char *text);
