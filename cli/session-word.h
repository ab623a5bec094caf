/* SPDX-License-Identifier: MIT */
#pragma once

/* How people name a session: "s3" as records and pages say it, "3", or its path on the bus. */

/** session_word_to_path() - the object's path; a new string. Another path stays as it is */
char *session_word_to_path(const char *word);

/** session_word_to_id() - "s3"; a new string. What is no name of a session stays as it is */
char *session_word_to_id(const char *word);
