/* SPDX-License-Identifier: MIT */
#pragma once

/* The methods of .Plugins that look at bundles or bring them: they take a while, tell how far they are when they are given a
 * handle-token, and end when their caller leaves. FaceHandlers for bus-plugins.c. */

#include "dbus/face.h"

int plugin_jobs_validate(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);
int plugin_jobs_preview(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);
int plugin_jobs_review(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);
int plugin_jobs_install(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);
int plugin_jobs_update(Face *face, Caller *caller, sd_bus_message *m, sd_bus_error *reterr);
