/* SPDX-License-Identifier: MIT */
#pragma once

/* A service for one author and one evening: a bus, a home and a configuration of its own in a temporary folder. */

#include "cli/dev-child.h"

typedef struct DevService {
        char *folder;  /* all of it */
        char *address; /* of its bus */
        DevChild bus, program;
} DevService;

/**
 * dev_service_start() - make the folder, run the bus and the service, and wait until it answers
 * @node:   NULL, or the runtime's program
 * @config: NULL, or a file with more configuration
 * @line:   what the service logs, once @event runs
 *
 * Return: 0; a negative errno with a sentence in @ret_error. dev_service_stop() is due in any case.
 */
int dev_service_start(DevService *service, const char *node, const char *config, sd_event *event,
                DevChildLine line, void *userdata, char **ret_error);

/** dev_service_stop() - end both and remove the folder with all that was kept in it */
void dev_service_stop(DevService *service);
