/* SPDX-License-Identifier: MIT */
#pragma once

/* One prompt section of a plugin: its text, and the rules that a text must keep (contract 4.3). */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* Whose section it is. Opaque here; all but the generation are copied. */
typedef struct SectionOwner {
        const char *owner;  /* id of the live owner: limits and removal go by it, and the first key of the
                               order */
        const char *plugin; /* name for the attribution */
        uint64_t generation;
        const char *content_hash; /* of the reviewed bytes */
        const char *entry;        /* path of the entry */
} SectionOwner;

typedef struct Section {
        uint64_t handle;
        char *owner;
        char *plugin;
        uint64_t generation;
        char *content_hash;
        char *entry;
        char *id;
        char *text;
        size_t text_size;
        bool interpolate;
        bool admitted;
} Section;

/** section_id_check() - 0, or -EINVAL unless it matches ^[a-z][a-z0-9_-]{0,63}$ */
int section_id_check(const char *id);

/**
 * section_text_check() - whether a text may be a section
 * @size:        its bytes; may hold NUL, which is refused
 * @interpolate: also check the template rules
 *
 * Refused: blank; not UTF-8; over PROMPT_TEXT_BYTES_MAX bytes; control characters other than newline,
 * carriage return and tab; a malformed or unknown {{variable}} in a template.
 *
 * Return: 0; -EINVAL or -E2BIG with words in @reterr.
 */
int section_text_check(const char *text, size_t size, bool interpolate, sd_bus_error *reterr);

Section *section_new(
                const SectionOwner *owner, const char *id, const char *text, size_t size, bool interpolate);
Section *section_free(Section *section);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Section, section_free)

/** section_compare() - owner, then entry, then id */
int section_compare(const Section *a, const Section *b);
