/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/**
 * skill_path_check() - whether a path may be the root of skills (contract 4.5)
 *
 * Relative to the bundle, at most SKILL_PATH_BYTES_MAX bytes of UTF-8, ordinary segments between '/': no empty one, no "." or
 * "..", no backslash, colon or control character, no '/' at either end. @path may hold NUL, which is refused.
 *
 * Return: NULL, or what is wrong, as the end of a sentence.
 */
const char *skill_path_check(const char *path, size_t size);
