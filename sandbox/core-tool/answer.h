/* SPDX-License-Identifier: MIT */
#pragma once

/* What a core tool says: text that is never larger than CORE_TEXT_BYTES_MAX, whatever was there to say, and a few
 * facts beside it. */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/jwriter.h"

typedef struct Answer {
        GString *head, *tail; /* the beginning and the end of what was said */
        uint64_t said;        /* bytes of all of it */
        uint64_t more;        /* bytes that were there and not even looked at */
        bool is_error;
        char *refused;   /* not run at all, and why */
        JWriter facts;   /* members of "structured" */
        bool has_facts;
} Answer;

void answer_init(Answer *answer);
void answer_done(Answer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_done)

/** answer_add() - say more; the middle is left out when it gets too much */
void answer_add(Answer *answer, const char *text, size_t size);
void answer_printf(Answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** answer_is_full() - whether the beginning is complete: what comes now may be left out */
bool answer_is_full(const Answer *answer);

/** answer_fail() - the tool ran and could not do it; replaces what was said */
void answer_fail(Answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** answer_refuse() - it may not run: what it was allowed for is not there any more */
void answer_refuse(Answer *answer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** answer_facts() - an object that is open for members; it becomes "structured" */
JWriter *answer_facts(Answer *answer);

/** answer_to_json() - the whole as the service reads it; ends the answer's facts */
char *answer_to_json(Answer *answer, size_t *ret_size);
