/* SPDX-License-Identifier: MIT */
#pragma once

/* Reading and answering messages, with typed errors and within the size that we promise. */

#include <systemd/sd-bus.h>

/** message_read() - sd_bus_message_read() with a typed error */
int message_read(sd_bus_message *m, sd_bus_error *reterr, const char *types, ...);

/** message_append_text() - a text of unknown origin: NULL is empty, and what is not UTF-8 is made so visibly */
int message_append_text(sd_bus_message *m, const char *text);

/** message_reply_json() - answer with one string; ERROR_TOO_LARGE over BUS_MESSAGE_BYTES_MAX */
int message_reply_json(sd_bus_message *m, const char *json, sd_bus_error *reterr);

/** message_reply_empty() - answer without a value; 1 */
int message_reply_empty(sd_bus_message *m);
