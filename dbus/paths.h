/* SPDX-License-Identifier: MIT */
#pragma once

/* Names on the bus: the service, its interfaces, and the paths of its objects (design 4). */

#include <stdbool.h>
#include <stdint.h>

#define BUS_SERVICE "org.codewhale.Extensions"

#define PATH_ROOT        "/org/codewhale/Extensions"
#define PATH_PLUGIN      PATH_ROOT "/plugin"
#define PATH_SESSION     PATH_ROOT "/session"
#define PATH_APPROVAL    PATH_ROOT "/approval"
#define PATH_REQUEST     PATH_ROOT "/request"
#define PATH_LOG_CONTROL "/org/freedesktop/LogControl1"

#define INTERFACE_ROOT        "org.codewhale.Extensions"
#define INTERFACE_PLUGINS     INTERFACE_ROOT ".Plugins"
#define INTERFACE_PLUGIN      INTERFACE_ROOT ".Plugin"
#define INTERFACE_TOOLS       INTERFACE_ROOT ".Tools"
#define INTERFACE_COMMANDS    INTERFACE_ROOT ".Commands"
#define INTERFACE_HOOKS       INTERFACE_ROOT ".Hooks"
#define INTERFACE_PROMPT      INTERFACE_ROOT ".Prompt"
#define INTERFACE_SKILLS      INTERFACE_ROOT ".Skills"
#define INTERFACE_STORAGE     INTERFACE_ROOT ".Storage"
#define INTERFACE_SESSIONS    INTERFACE_ROOT ".Sessions"
#define INTERFACE_SESSION     INTERFACE_ROOT ".Session"
#define INTERFACE_APPROVALS   INTERFACE_ROOT ".Approvals"
#define INTERFACE_APPROVAL    INTERFACE_ROOT ".Approval"
#define INTERFACE_GRANTS      INTERFACE_ROOT ".Grants"
#define INTERFACE_DECISIONS   INTERFACE_ROOT ".Decisions"
#define INTERFACE_POLICY      INTERFACE_ROOT ".Policy"
#define INTERFACE_REQUEST     INTERFACE_ROOT ".Request"
#define INTERFACE_LOG_CONTROL "org.freedesktop.LogControl1"

/** path_of_plugin() - the object of a plugin; a new string */
char *path_of_plugin(const char *id);

/** path_to_plugin() - the id that a plugin's path stands for; a new string, NULL when it is no such path */
char *path_to_plugin(const char *path);

/** path_of_number() - @prefix, a slash and a number; a new string */
char *path_of_number(const char *prefix, uint64_t number);

/** path_to_number() - the number in such a path; false for any other spelling (no sign, no leading zero) */
bool path_to_number(const char *path, const char *prefix, uint64_t *ret);

/** path_of_request() - the object of a request, as its caller can compute it before calling; a new string */
char *path_of_request(const char *sender, const char *token);

/** path_is_request() - whether it is spelled like the path of a request */
bool path_is_request(const char *path);

/** handle_token_is_valid() - one to HANDLE_TOKEN_CHARS_MAX letters, digits or underscores */
bool handle_token_is_valid(const char *token);

/** handle_token_new() - one that nobody can guess, for a caller that gives none; a new string */
char *handle_token_new(void);
