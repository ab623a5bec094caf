/* SPDX-License-Identifier: MIT */
#pragma once

#include "cli/cli.h"

/**
 * plugin_change() - call a method of .Plugins that takes a plugin and options and answers nothing
 * @said: what to say when it worked, with {} for the plugin; NULL: nothing
 *
 * With --json the plugin is described afterwards, or {} is printed when it is gone. Return: an ExitStatus.
 */
int plugin_change(Cli *cli, const char *member, const char *plugin, const char *said);
