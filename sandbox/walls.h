/* SPDX-License-Identifier: MIT */
#pragma once

/* The walls around every sandboxed unit, as data: one row a property of systemd (design 5.1). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* The D-Bus type of a property, and with it which member of a wall holds its value. */
typedef enum WallType {
        WALL_BOOLEAN, /* b: number */
        WALL_UINT32,  /* u: number */
        WALL_INT32,   /* i: number */
        WALL_UINT64,  /* t: number */
        WALL_STRING,  /* s: text */
        WALL_STRINGS, /* as: list */
        WALL_ALLOW,   /* (bas): true and list */
        WALL_DENY,    /* (bas): false and list */
        WALL_NETWORK, /* a(iayu): every address of IPv4 and IPv6 */
        WALL_TMPFS,   /* a(ss): list of path, options, path, options */
        _WALL_TYPE_MAX,
        _WALL_TYPE_INVALID = -22,
} WallType;

typedef struct Wall {
        const char *property;
        WallType type;
        bool security; /* a manager that refuses it is refused; else the unit runs without it, and that is
                          recorded */
        uint64_t number;
        const char *text;
        const char *const *list;
        bool offline; /* not around a unit that is to reach the network (SandboxSpec.network) */
} Wall;

/** walls_get() - the whole table */
const Wall *walls_get(size_t *ret_n);

/** walls_get_network() - what a unit that is to reach the network gets in place of the rows for those that are not */
const Wall *walls_get_network(size_t *ret_n);

/** wall_append() - one "(sv)" of StartTransientUnit */
int wall_append(const Wall *wall, sd_bus_message *m);

/* A set of properties, by row of the table: those a manager does not know. */
typedef struct WallSet {
        uint64_t rows;
} WallSet;

/**
 * walls_find_refused() - which property a manager's error text is about
 *
 * Return: the row; -ENOENT when it names none of ours.
 */
int walls_find_refused(const char *message);

static inline bool wall_set_has(const WallSet *set, size_t row) {
        return set && (set->rows & (UINT64_C(1) << row));
}

static inline void wall_set_add(WallSet *set, size_t row) {
        set->rows |= UINT64_C(1) << row;
}
