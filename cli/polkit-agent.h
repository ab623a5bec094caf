/* SPDX-License-Identifier: MIT */
#pragma once

/* polkit asks a person through an agent of that person's session. A desktop has one; for a terminal without a desktop, as over
 * ssh, we start polkit's own text agent while a call of ours may need it, as systemctl does. */

#include <sys/types.h>

typedef struct PolkitAgent {
        pid_t pid; /* 0: none was started */
} PolkitAgent;

/**
 * polkit_agent_open() - have an agent for what follows
 *
 * Does nothing without a terminal on standard input, for root (who is never asked), and where polkit's agent is not
 * installed. An agent of the desktop goes before it.
 */
void polkit_agent_open(PolkitAgent *ret);

/** polkit_agent_close() - end it again; harmless when there is none */
void polkit_agent_close(PolkitAgent *agent);
