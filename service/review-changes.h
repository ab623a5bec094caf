/* SPDX-License-Identifier: MIT */
#pragma once

/* The part of a review that says what is different from the last reviewed state. For review.c. */

#include "common/jwriter.h"
#include "service/review.h"

/** review_changes_write() - the value of "changes" (see review.h) */
void review_changes_write(JWriter *writer, const ReviewSubject *subject, ReviewFlags flags);
