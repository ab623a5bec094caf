/* SPDX-License-Identifier: MIT */
#pragma once

/* Sentences for people on why a sandbox was not set up or a host has ended. New strings, valid UTF-8. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** explain_is_setup_status() - whether an exit status is one of systemd's own for "never got to the program"
 */
bool explain_is_setup_status(int status);

/**
 * explain_setup() - the step of systemd that failed, and what on this machine may be the reason
 * @by_system: whether it was the system's manager, to which what is forbidden to users does not apply
 */
char *explain_setup(int status, bool by_system);

/**
 * explain_user_namespaces() - why user namespaces may be forbidden here, and what allows them
 *
 * Return: NULL when nothing on this machine forbids them.
 */
char *explain_user_namespaces(void);

/** explain_launcher_status() - the launcher's exit codes (sandbox/launcher.h) in words; NULL for any other
 */
const char *explain_launcher_status(int status);

/** explain_signal() - "SIGKILL", "SIGSEGV", …; "signal 64" for what has no name */
char *explain_signal(int number);

/* Where /proc/sys is, for tests; NULL: there */
void explain_set_sysctl_root(const char *root);
