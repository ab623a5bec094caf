/* SPDX-License-Identifier: MIT */
#pragma once

/* The rules of contract 1.8 that look at one value: ids, commands, arguments, URLs. Each answers NULL or the broken rule as
 * a static text that follows the field's name and never quotes the value. */

#include <stdbool.h>

const char *mcp_rule_check_id(const char *id);

/** mcp_rule_check_command() - @ret_contained: whether it is a path in the bundle, not a name for PATH */
const char *mcp_rule_check_command(const char *command, bool *ret_contained);

/** mcp_rule_check_argument() - no absolute path, no "..", nothing that looks like a credential */
const char *mcp_rule_check_argument(const char *argument);

/** mcp_rule_check_url() - https, or http to the loopback; @ret_host gets the lower-case host (g_free() it) */
const char *mcp_rule_check_url(const char *url, char **ret_host);

/** mcp_rule_check_header() - the name of an HTTP header (an RFC 9110 token) */
const char *mcp_rule_check_header(const char *name);
