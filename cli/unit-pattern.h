/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * unit_pattern_for_plugin() - what the units of all starts of a plugin's host match, for journalctl
 * @plugin_id: its id, not its name
 *
 * Must agree with unit_name_for_host() in sandbox/unit-name.h, which this room does not see; a test of the
 * integration suite reads a real plugin's log. Return: a new string.
 */
char *unit_pattern_for_plugin(const char *plugin_id);
