/* SPDX-License-Identifier: MIT */
#pragma once

/* What must hold inside the sandbox, found out by trying it. Each function makes some checks and writes down
 * what it saw. */

#include "sandbox/launcher/findings.h"
#include "sandbox/launcher/options.h"

/* After capabilities were dropped, before Landlock: so that it is the unit's own walls that are tried. */
void checks_privileges(Findings *findings);
void checks_namespaces(Findings *findings, const Options *options);
void checks_descriptors(Findings *findings);
void checks_environment(Findings *findings, const Options *options);
void checks_files(Findings *findings, const Options *options);
void checks_sockets(Findings *findings, const Options *options);
void checks_calls(Findings *findings);

/* After Landlock and the filter */
void checks_processes(Findings *findings, const Options *options);
