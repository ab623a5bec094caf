/* SPDX-License-Identifier: MIT */
#pragma once

/**
 * time_zone_name() - the name of the machine's time zone, as it stands in TZ=
 * @localtime: the link that says so; NULL: /etc/localtime
 *
 * A host is told by name: in its sandbox there is no link to read, and a runtime that wants to know compares all files of
 * /usr/share/zoneinfo with the one it got, some 1,400 files at every start.
 *
 * Return: a new string ("UTC" when there is no such file, as everywhere); NULL when the file does not say.
 */
char *time_zone_name(const char *localtime);
