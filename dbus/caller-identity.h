/* SPDX-License-Identifier: MIT */
#pragma once

/* Who is behind a connection, as the bus and the kernel tell: the user decides, the control group can only refuse, and
 * the rest is for people to read. A bare pid never decides anything for a caller. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

typedef struct CallerIdentity {
        uid_t uid;
        pid_t pid;  /* 0: not told; display only */
        uint64_t start; /* when that process began, in clock ticks of this boot; 0 when it can't be told */
        int pidfd;  /* as the bus gave it; -EBADF when it gives none */
        char *exe;  /* what runs there, sanitised; its own name in parentheses when that is hidden from us; NULL when it can't be
                       told; display only */
        char *unit; /* the systemd unit that it is in; NULL likewise; display only */
} CallerIdentity;

#define CALLER_IDENTITY_INIT { .uid = (uid_t) -1, .pidfd = -EBADF }

void caller_identity_done(CallerIdentity *identity);

/**
 * caller_identity_read() - read the answer to GetConnectionCredentials
 * @ret: initialised; end it with caller_identity_done() also after a failure
 *
 * Return: 0; -ENODATA when the bus does not say which user it is; -EBADMSG.
 */
int caller_identity_read(sd_bus_message *reply, CallerIdentity *ret);

/** caller_identity_look_up() - add what /proc tells about the process; what can't be told stays NULL */
void caller_identity_look_up(CallerIdentity *identity);

/**
 * caller_identity_check() - whether such a caller may use the service at all
 *
 * Refused are other users than ours (root excepted), processes in the control group of one of our hosts, and processes of
 * which the control group can't be told: a plugin that got hold of a bus must not be served because it was quick to exit.
 * Return: 0 or ERROR_ACCESS_DENIED.
 */
int caller_identity_check(const CallerIdentity *identity, sd_bus_error *reterr);

/** cgroup_is_of_host() - whether the text of a /proc/PID/cgroup names one of our host units */
bool cgroup_is_of_host(const char *text);
