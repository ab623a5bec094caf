/* SPDX-License-Identifier: MIT */
#pragma once

/* Where meson installs what the service starts; see service/meson.build. */

#define HOST_BUNDLE_PATH SERVICE_PKGDATADIR "/host/codewhale-extension-host.mjs"
#define HOST_LAUNCHER_PATH SERVICE_LIBEXECDIR "/codewhale-host-launcher"
