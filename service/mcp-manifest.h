/* SPDX-License-Identifier: MIT */
#pragma once

/* The MCP servers that a bundle defines (contract 1.8): mcp.json beside the manifest, or the same inside another format.
 * Definitions only: nothing here starts or calls anything, and secrets never stand in them, only names of variables. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/jdoc.h"
#include "service/manifest-reader.h"

#define MCP_FILE_NAME "mcp.json"
#define MCP_SERVERS_MAX 64u

typedef enum McpTransport {
        MCP_STDIO,
        MCP_STREAMABLE_HTTP,
        MCP_SSE,
        _MCP_TRANSPORT_MAX,
        _MCP_TRANSPORT_INVALID = -EINVAL,
} McpTransport;
const char *mcp_transport_to_string(McpTransport transport);

/* A name and the environment variable that its value comes from */
typedef struct McpBinding {
        char *name;     /* of the variable or header that the server gets */
        char *variable; /* to read it from */
} McpBinding;

typedef struct McpServer {
        char *id;
        McpTransport transport;

        /* stdio */
        char *command;   /* a bare name for PATH, or relative to the bundle */
        bool contained;  /* the latter */
        char **args;     /* never NULL */
        GPtrArray *env;  /* of McpBinding */
        char *cwd;       /* relative to the bundle, or NULL */

        /* streamable-http, sse */
        char *url;
        char *host;             /* lower case */
        GPtrArray *env_headers; /* of McpBinding */
        char *bearer_token_env_var;

        unsigned connect_timeout, execute_timeout, read_timeout; /* seconds; 0: not said */
        bool enabled, required;
        char **enabled_tools, **disabled_tools, **scopes; /* NULL: not said */
} McpServer;

typedef struct McpManifest {
        GPtrArray *servers; /* of McpServer, in the order of the text */
} McpManifest;

/**
 * mcp_manifest_parse() - read mcp.json
 *
 * Problems become diagnostics of @reader. Return: 0, or -EBADMSG when there was one.
 */
int mcp_manifest_parse(ManifestReader *reader, const char *text, size_t size, McpManifest **ret);

/** mcp_manifest_read() - the same from a value that is an object of servers by id; NULL with a problem */
McpManifest *mcp_manifest_read(ManifestReader *reader, const char *where, Jval servers);

McpManifest *mcp_manifest_free(McpManifest *manifest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(McpManifest, mcp_manifest_free)

/** mcp_manifest_count() - how many servers use stdio, or do not; 0 for NULL */
size_t mcp_manifest_count(const McpManifest *manifest, bool stdio);

/** mcp_server_public_name() - "plugin-<length>-<plugin>-<id>"; a new string */
char *mcp_server_public_name(const McpServer *server, const char *plugin_name);

/** mcp_server_display() - one line for the review: the endpoint without anything secret, unsafe letters escaped */
char *mcp_server_display(const McpServer *server);
