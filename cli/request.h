/* SPDX-License-Identifier: MIT */
#pragma once

/* One call of a tool or command from beginning to end: Start, wait for the Response, cancel on Ctrl-C or
 * when --timeout is over, and say on a terminal that a person is asked. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "cli/cli.h"
#include "cli/response.h"

typedef struct RequestCall {
        const char *interface; /* ".Tools" or ".Commands" */
        const char *name;
        const char *input; /* arguments or text */
} RequestCall;

/**
 * request_run() - make the call and wait for its end
 *
 * The options --deadline, --workspace, --mode and --posture are passed on. An input too large for one
 * message travels as a sealed memory file. Return: 0 with *@ret, whatever the outcome; a negative errno with
 * @reterr when there was no call.
 */
int request_run(Cli *cli, const RequestCall *call, RequestResult *ret, sd_bus_error *reterr);

/** request_path() - where the request of a connection with a token is; a new string */
char *request_path(const char *unique_name, const char *token);
