/* SPDX-License-Identifier: MIT */
#pragma once

/* How a call ended: what its Response signal carries. */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "cli/cli.h"

typedef enum RequestOutcome {
        REQUEST_ANSWERED = 0,
        REQUEST_FAILED = 1,
        REQUEST_CANCELLED = 2,
        _REQUEST_OUTCOME_MAX,
        _REQUEST_OUTCOME_INVALID = -EINVAL,
} RequestOutcome;

typedef struct RequestResult {
        RequestOutcome outcome;
        char *result;       /* JSON, when answered */
        sd_bus_error error; /* otherwise; both strings are its own */
        char *call_id;      /* may be NULL */
        bool interrupted;   /* cancelled by Ctrl-C */
} RequestResult;

void request_result_done(RequestResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RequestResult, request_result_done)

/** response_read() - read a Response signal into @result, which is empty; 0 or a negative errno */
int response_read(sd_bus_message *m, RequestResult *result);

/** response_report() - say why a call of @name did not answer; returns the ExitStatus for it */
int response_report(const Cli *cli, const char *name, const RequestResult *result);
