/* SPDX-License-Identifier: MIT */
#pragma once

/* The rules for text that a bundle's author wrote for people, and for the paths that he declared. Each check answers with
 * the rule that is broken, as a static text that follows the field's name, and never quotes the input; NULL means fine. */

#include <stdbool.h>
#include <stddef.h>

/**
 * text_rule_check() - a human-readable field (contract 1.5.1)
 * @text:      decoded bytes, valid UTF-8, may hold NUL
 * @size:      their number
 * @chars_max: limit in characters
 *
 * Return: NULL, or what is wrong: too long, blank, a control character, a bidirectional control character.
 */
const char *text_rule_check(const char *text, size_t size, size_t chars_max);

/**
 * text_rule_check_name() - a bundle's name (1.3), which becomes the name of a folder
 * @legacy: the grammar of plugin.toml: no dots, but "--" is allowed
 */
const char *text_rule_check_name(const char *name, bool legacy);

/** text_rule_check_version() - a semantic version (semver.org, 2.0.0) */
const char *text_rule_check_version(const char *version);

/**
 * text_rule_check_path() - a path that a manifest declares, by its letters alone (1.5.3)
 *
 * Relative, '/' separated, one spelling for one place: no ".", "..", empty component, backslash or drive letter.
 */
const char *text_rule_check_path(const char *path);

/**
 * text_rule_check_file_name() - the name of a file in a bundle, as the disk has it
 *
 * It is shown in the review and travels as JSON, so it must be UTF-8 without control characters.
 */
const char *text_rule_check_file_name(const char *name);

/** text_rule_check_variable() - the name of an environment variable: [A-Za-z_][A-Za-z0-9_]*, at most 128 characters */
const char *text_rule_check_variable(const char *name);
