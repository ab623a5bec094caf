/* SPDX-License-Identifier: MIT */
#pragma once

/* What codewhalectl top shows, at one moment: all of it read from properties on the bus. */

#include <glib.h>
#include <stdint.h>

#include "cli/cli.h"

typedef struct TopPlugin {
        char *id, *name, *state, *host_state, *failure, *unit;
        char *limits;                              /* the property, JSON */
        char *not_enforced;                        /* why a limit that is configured is not in force; NULL */
        uint64_t memory_configured, tasks_configured; /* 0: not known */
        uint64_t memory, memory_max, tasks, tasks_max, cpu_usec, since_usec, calls, failures, pending;
        double cpu_percent; /* since the sample before; below 0: not known */
} TopPlugin;

typedef struct TopCard {
        uint64_t id;
        char *title; /* made safe */
} TopCard;

typedef struct TopSample {
        uint64_t time_usec; /* CLOCK_REALTIME */
        char *version, *health;
        uint32_t active, hosts, approvals;
        GPtrArray *plugins; /* of TopPlugin */
        GPtrArray *cards;   /* of TopCard; the first few */
} TopSample;

typedef enum TopOrder {
        TOP_ORDER_MEMORY,
        TOP_ORDER_CPU,
        TOP_ORDER_CALLS,
        TOP_ORDER_NAME,
        _TOP_ORDER_MAX,
        _TOP_ORDER_INVALID = -EINVAL,
} TopOrder;

const char *top_order_to_string(TopOrder order);
TopOrder top_order_from_string(const char *word);

/**
 * top_sample_take() - ask the service
 * @before: NULL, or the sample that percentages count from
 *
 * A plugin or card that goes away meanwhile is left out. Return: 0 or a negative errno with @reterr.
 */
int top_sample_take(Cli *cli, const TopSample *before, TopSample **ret, sd_bus_error *reterr);
TopSample *top_sample_free(TopSample *sample);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TopSample, top_sample_free)

/** top_sample_sort() - the largest first; equal ones, and by TOP_ORDER_NAME all, by name */
void top_sample_sort(TopSample *sample, TopOrder order);

/** top_sample_json() - all of it as one JSON object; a new string */
char *top_sample_json(const TopSample *sample);
