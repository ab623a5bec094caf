/* SPDX-License-Identifier: MIT */
#pragma once

/* Where meson installs what the service starts (see service/meson.build), and where the administrator's rules are. */

#define ADMINISTRATOR_PERMISSIONS_PATH "/etc/codewhale/permissions.toml"
#define HOST_BUNDLE_PATH SERVICE_PKGDATADIR "/host/codewhale-extension-host.mjs"
#define HOST_LAUNCHER_PATH SERVICE_LIBEXECDIR "/codewhale-host-launcher"
