/* SPDX-License-Identifier: MIT */
#pragma once

/* The launcher's report: what it tried and read inside the sandbox before anything of a plugin ran
 * (design 5.2). */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "sandbox/launcher-exit.h" /* LAUNCHER_GO_PAYLOAD */

#define SANDBOX_REPORT_VERSION 1u

typedef struct SandboxCheck {
        char *name; /* "capabilities", "network", … */
        bool held;
        bool required; /* for the launcher; the table in report.c may say more */
        char *detail;  /* what was seen; sanitised */
} SandboxCheck;

typedef struct SandboxReport {
        unsigned version;
        SandboxCheck *checks;
        size_t n_checks;
        uint64_t data_bytes; /* RLIMIT_DATA in force; UINT64_MAX: none */
        uint64_t files;      /* RLIMIT_NOFILE */
        unsigned landlock;   /* version of Landlock in force; 0: none */
        uint64_t took_usec;  /* the launcher's own time */
} SandboxReport;

/**
 * sandbox_report_parse() - read the params of launcher/report, or the whole frame
 *
 * Return: 0; -EBADMSG with words in @reterr.
 */
int sandbox_report_parse(const char *payload, size_t size, SandboxReport **ret, sd_bus_error *reterr);
SandboxReport *sandbox_report_free(SandboxReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SandboxReport, sandbox_report_free)

/** sandbox_report_find() - a check by name; NULL when the launcher did not make it */
const SandboxCheck *sandbox_report_find(const SandboxReport *report, const char *name);

/**
 * sandbox_report_judge() - whether a plugin may run behind these walls
 *
 * Every check that we require must be there and must have held; one that is missing counts as failed.
 *
 * Return: 0; the errno of ERROR_SANDBOX_REFUSED, with the concrete cause in @reterr.
 */
int sandbox_report_judge(const SandboxReport *report, sd_bus_error *reterr);
