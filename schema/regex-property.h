/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * regex_property() - PCRE2's name of a Unicode property
 * @name: as ECMAScript writes it between the braces of \p{…}
 *
 * Return: a static text, or @name itself (or a part of it) when both call it the same; NULL when it is no name.
 */
const char *regex_property(const char *name);
