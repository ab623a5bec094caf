/* SPDX-License-Identifier: MIT */
#pragma once

/* The tool web_fetch of the built-in core: the text behind one address. It runs in the unit of the downloader, which has the
 * network and no file of anybody, and speaks with the service as the other core tools do (core-tool/exchange.h).
 *
 * https to the world, and to what was configured (--private); http and https to this machine where the address names it, as
 * localhost, 127.0.0.0/8 or [::1]. Every connection is judged by the address that it goes to, whatever its name was. A redirect
 * to another origin is told and not followed: it would be another call, about which a person is asked again. */

#define WEB_FETCH_OPTION       "--web-fetch"
#define WEB_FETCH_CERTIFICATES "--certificates=" /* a file of certificates that are trusted too */
#define WEB_FETCH_MSEC         "--msec="         /* for all of it, at most CORE_WEB_SECONDS_MAX seconds */
#define WEB_FETCH_PRIVATE      "--private="      /* a prefix of addresses (common/address.h); any number of times */

/** web_fetch_main() - one call; @argv: the options behind WEB_FETCH_OPTION */
int web_fetch_main(int argc, char **argv);
