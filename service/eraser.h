/* SPDX-License-Identifier: MIT */
#pragma once

/* Turns reviewed .mts modules into JavaScript when a bundle is trusted: a host of the tier that runs no extension does it,
 * behind the same walls. It is started for the first module and ended when none was asked for during a while. */

#include "service/host-process.h"
#include "service/plugin-job.h"

typedef struct Eraser Eraser;

/** eraser_new() - sets itself as the eraser of @set; both are borrowed and outlive it */
Eraser *eraser_new(const HostContext *context, PluginSet *set);
Eraser *eraser_free(Eraser *eraser);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Eraser, eraser_free)
