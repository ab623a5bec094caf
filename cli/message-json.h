/* SPDX-License-Identifier: MIT */
#pragma once

#include <systemd/sd-bus.h>

#include "common/jwriter.h"

/**
 * message_write() - write what is left of a message as a JSON array, one element an argument
 *
 * Structures and arrays become arrays, dictionaries with string keys objects, variants their value, file
 * descriptors null. Return: 0; -EBADMSG for nesting that JWriter does not take; another negative errno.
 */
int message_write(sd_bus_message *m, JWriter *writer);
