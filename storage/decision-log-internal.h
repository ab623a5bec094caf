/* SPDX-License-Identifier: MIT */
#pragma once

/* The inside of the decision log, shared by its writer (decision-log.c) and its reader (decision-query.c).
 */

#include "storage/decision-log.h"

#define DECISION_FILE_NAME_MAX 40

struct DecisionLog {
        int folder;
        int fd;        /* of the newest file, O_APPEND */
        size_t size;   /* of the newest file */
        GArray *files; /* uint64_t, ascending: the numbers of the files there are */
};

void decision_file_name(uint64_t number, char ret[static DECISION_FILE_NAME_MAX]);
