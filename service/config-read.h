/* SPDX-License-Identifier: MIT */
#pragma once

/* The settings of config.toml, one row each, and what is wrong with a file of them. Touches no file. */

#include "policy/policy-document.h"
#include "service/config.h"
#include "service/policy-file.h"

/**
 * config_read() - take the settings of a document
 * @file: parsed; every mistake is noted in its document, with its place
 *
 * Return: how many entries it has; @config is only worth something when the document has no error.
 */
size_t config_read(Config *config, PolicyFile *file);

/** config_plugin_table() - "[plugins.NAME.config]"; absent when there is none */
Jval config_plugin_table(Jval root, const char *plugin_name);

/** config_plugin_table_problem() - what is wrong with such a table (4.11), as the rest of a sentence about it; a new string, NULL for nothing */
char *config_plugin_table_problem(Jval table);

/** config_read_activation() - 0 with whether the word is "eager"; -EINVAL for any other than "eager" and "on-demand" */
int config_read_activation(Jval value, bool *ret_eager);
