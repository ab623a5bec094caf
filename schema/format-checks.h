/* SPDX-License-Identifier: MIT */
#pragma once

/* One function a format: whether a text (UTF-8, may hold NUL) has it. */

#include <stdbool.h>
#include <stddef.h>

typedef bool (*FormatCheck)(const char *text, size_t size);

/* RFC 3339 */
bool format_date(const char *text, size_t size);
bool format_time(const char *text, size_t size);
bool format_date_time(const char *text, size_t size);
bool format_duration(const char *text, size_t size);

/* RFC 1123, 2673, 4291, 5321, 6531, 4122 */
bool format_hostname(const char *text, size_t size);
bool format_old_hostname(const char *text, size_t size); /* without regard to encoded labels: drafts 4 and 6 */
bool format_ipv4(const char *text, size_t size);
bool format_ipv6(const char *text, size_t size);
bool format_email(const char *text, size_t size);
bool format_idn_email(const char *text, size_t size);
bool format_uuid(const char *text, size_t size);

/* RFC 5890 and following; with libidn2, else as far as that goes without it */
bool format_idn_hostname(const char *text, size_t size);

/** format_alabel() - whether a label that begins with "xn--" is the punycode of a valid one */
bool format_alabel(const char *text, size_t size);

/* RFC 3986, 3987, 6570, 6901 */
bool format_uri(const char *text, size_t size);
bool format_uri_reference(const char *text, size_t size);
bool format_iri(const char *text, size_t size);
bool format_iri_reference(const char *text, size_t size);
bool format_uri_template(const char *text, size_t size);
bool format_json_pointer(const char *text, size_t size);
bool format_relative_json_pointer(const char *text, size_t size);
bool format_regex(const char *text, size_t size);
