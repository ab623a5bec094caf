/* SPDX-License-Identifier: MIT */
#pragma once

/* MCP servers as other products' bundles define them (contract 9.4), brought into the shape of 1.8 and then held against
 * all of its rules. */

#include <stddef.h>

#include "common/jdoc.h"
#include "service/manifest-reader.h"
#include "service/mcp-manifest.h"

#define MCP_CLAUDE_FILE_NAME ".mcp.json"

/**
 * mcp_adapt() - read an object of servers by id
 *
 * "http" becomes streamable HTTP; an Authorization header "Bearer ${NAME}" becomes the name of a variable, another header
 * "${NAME}" likewise; any other header is refused, as is ${CLAUDE_PLUGIN_ROOT} anywhere. NULL with a problem.
 */
McpManifest *mcp_adapt(ManifestReader *reader, const char *where, Jval servers);

/** mcp_adapt_parse() - the same from the text of .mcp.json, whose servers stand at its root or under "mcpServers" */
int mcp_adapt_parse(ManifestReader *reader, const char *text, size_t size, McpManifest **ret);

/** mcp_adapt_hosts() - the hosts of the remote servers, for bundles that have no way to declare them; a new array or NULL */
char **mcp_adapt_hosts(const McpManifest *manifest);
