/* SPDX-License-Identifier: MIT */
#pragma once

/* What one run of codewhalectl knows: the options that were given and the connection, and what it ends with.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* Every option that any verb takes; options.c has the table. */
typedef enum OptionId {
        OPTION_HELP,
        OPTION_VERSION,
        OPTION_JSON,
        OPTION_USER,
        OPTION_SYSTEM,
        OPTION_ADDRESS,
        OPTION_TIMEOUT,
        OPTION_NO_PAGER,
        OPTION_COLOR,
        OPTION_WORKSPACE,
        OPTION_MODE,
        OPTION_POSTURE,
        OPTION_MODEL,
        OPTION_DEADLINE,
        OPTION_EXPECT,
        OPTION_ALLOW_NETWORK,
        OPTION_PREVIEW,
        OPTION_DIFF,
        OPTION_WATCH,
        OPTION_SCOPE,
        OPTION_DIGEST,
        OPTION_FOR,
        OPTION_KIND,
        OPTION_SESSION,
        OPTION_FROM,
        OPTION_PLUGIN,
        OPTION_TOOL,
        OPTION_OUTCOME,
        OPTION_SINCE,
        OPTION_UNTIL,
        OPTION_LIMIT,
        OPTION_FOLLOW,
        OPTION_LINES,
        OPTION_ONCE,
        OPTION_INTERVAL,
        OPTION_SORT,
        OPTION_DIR,
        OPTION_TYPESCRIPT,
        OPTION_ASK,
        OPTION_CONFIG,
        OPTION_NODE,
        _OPTION_MAX,
        _OPTION_INVALID = -EINVAL,
} OptionId;

/* What the program ends with. The man page and --help promise these numbers: never change the meaning of
 * one. */
typedef enum ExitStatus {
        EXIT_STATUS_OK = 0,
        EXIT_STATUS_FAILURE = 1, /* anything that has no number of its own */
        EXIT_STATUS_USAGE = 2,   /* the command line, or arguments that the tool does not take */
        EXIT_STATUS_NOT_FOUND = 3,
        EXIT_STATUS_REFUSED = 4,       /* a rule, a hook or a person said no */
        EXIT_STATUS_UNREACHABLE = 5,   /* no bus, or no service on it */
        EXIT_STATUS_PLUGIN_FAILED = 6, /* its code or its host */
        EXIT_STATUS_WRONG_STATE = 7,   /* the bundle is not valid, not trusted, changed, not active … */
        EXIT_STATUS_UNANSWERED = 8,    /* nobody decided: no approver, too late, withdrawn */
        EXIT_STATUS_INTERRUPTED = 130,
} ExitStatus;

typedef struct Cli {
        const char *options[_OPTION_MAX]; /* the value, "" for one that has none, NULL when it was not given;
                                             borrowed */
        const char *verb;                 /* borrowed from the verb table */
        uint64_t timeout_usec;            /* of --timeout; 0 when it was not given */
        bool colour;                      /* of standard output */
        sd_bus *bus;                      /* NULL until the first call */
} Cli;

static inline bool cli_has(const Cli *cli, OptionId option) {
        return cli->options[option] != NULL;
}

/** cli_done() - close the connection; the rest is borrowed */
void cli_done(Cli *cli);
