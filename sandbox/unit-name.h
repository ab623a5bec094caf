/* SPDX-License-Identifier: MIT */
#pragma once

/* Names of the units that hosts run in: codewhale-host-ESCAPED-GENERATION.service (style 29). The generation
 * makes every start a unit of its own, so that nothing of an earlier one is mistaken for it. */

#include <stdbool.h>
#include <stdint.h>

#define UNIT_HOST_PREFIX "codewhale-host-"
#define UNIT_SLICE       "codewhale.slice"

/**
 * unit_name_escape() - any text as a part of a unit name, different for different texts
 *
 * Letters, digits, ':', '_' and inner '.' stay; every other byte becomes \xNN, '-' too, so that the part can
 * be told from its neighbours. Return: a new string.
 */
char *unit_name_escape(const char *text);

/**
 * unit_name_for_host() - the unit of one start of one plugin
 * @plugin_id: any text that is not empty; one that is too long for a unit name is cut and ends in a digest
 * of the whole
 *
 * Return: 0; -EINVAL on an empty id.
 */
int unit_name_for_host(const char *plugin_id, uint64_t generation, char **ret);

/** unit_name_to_path() - the object of a unit in systemd's manager; a new string */
char *unit_name_to_path(const char *unit);
