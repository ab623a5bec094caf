/* SPDX-License-Identifier: MIT */
#pragma once

/* Lists of tools that a session may use at all (contract 5.7, layer 2). */

#include <glib.h>
#include <stdbool.h>

#include "common/jwriter.h"

typedef struct Admission Admission;

/** admission_new() - admits everything until something is listed */
Admission *admission_new(void);
Admission *admission_free(Admission *admission);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Admission, admission_free)

/**
 * admission_allow(), admission_deny() - put a tool's name on a list, ignoring case
 *
 * With anything on an allow list only what is on it is admitted. A name on both is denied.
 * @at: NULL, or the place in a file that says so
 * Return: 0; -ENOBUFS at ADMISSION_NAMES_MAX.
 */
int admission_allow(Admission *admission, const char *name, const char *at);
int admission_deny(Admission *admission, const char *name, const char *at);

/**
 * admission_begin_list() - a further list of allowed tools, from another source: what is admitted must be on
 * each of them
 *
 * Until a name is put on it, the new list admits everything.
 */
void admission_begin_list(Admission *admission);

/**
 * admission_check() - whether a call is admitted, by the name as called and by its policy name
 * @ret_why: NULL, or a static text when it is not
 * @ret_at:  NULL, or the place in a file that says so, borrowed; NULL when there is none
 */
bool admission_check(const Admission *admission, const char *name, const char *policy_name, const char **ret_why,
                const char **ret_at);

/**
 * admission_write() - the lists, as two members of an object that is begun
 *
 * "deny":[{"tool","at"}...],"allow":[[{"tool","at"}...]...]; a tool must be on each list of "allow".
 */
void admission_write(const Admission *admission, JWriter *writer);
