/* SPDX-License-Identifier: MIT */
#pragma once

/* A host whose bundle got other bytes while a tool was running: it registers nothing any more and is called no more, but what
 * it was working on may end, on the sealed copy that was reviewed. Then it goes, and in any case when no call could still be
 * running. The next generation does not wait for it. */

#include <glib.h>

#include "service/host.h"

/** host_drains_end() - a person wants it gone at once: end those of a plugin */
void host_drains_end(GPtrArray *drains, const Plugin *plugin);

/** host_drains_new() - the list */
GPtrArray *host_drains_new(void);
