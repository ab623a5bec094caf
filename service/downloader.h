/* SPDX-License-Identifier: MIT */
#pragma once

/* Fetches what lies elsewhere: asks the network policy, starts the download helper in a unit with its own walls, and puts what
 * it sends into a file. Nothing of the service speaks HTTP. */

#include "service/host.h"
#include "service/plugin-job.h"

typedef struct Downloader Downloader;

/** downloader_new() - sets itself as the downloader of @set; both are borrowed and outlive it */
Downloader *downloader_new(const HostContext *context, PluginSet *set);
Downloader *downloader_free(Downloader *downloader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Downloader, downloader_free)
