/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "prompt/registry-internal.h"

static void section_destroy(void *section) {
        (void) section_free(section);
}

SectionRegistry *section_registry_new(void) {
        SectionRegistry *registry = g_new0(SectionRegistry, 1);

        registry->sections = g_ptr_array_new_with_free_func(section_destroy);
        registry->revision = 1;
        return registry;
}

SectionRegistry *section_registry_free(SectionRegistry *registry) {
        if (!registry)
                return NULL;

        g_ptr_array_unref(registry->sections);
        g_free(registry);
        return NULL;
}

bool section_registry_has_owner(const SectionRegistry *registry, const char *owner) {
        for (guint i = 0; i < registry->sections->len; i++)
                if (strcmp(((const Section *) registry->sections->pdata[i])->owner, owner) == 0)
                        return true;

        return false;
}

/* ---- limits ---- */

typedef struct Totals {
        size_t bytes;
        size_t sections;
} Totals;

static Totals totals_of(const SectionRegistry *registry, const char *owner) {
        Totals totals = {};

        for (guint i = 0; i < registry->sections->len; i++) {
                const Section *section = registry->sections->pdata[i];

                if (owner && strcmp(section->owner, owner) != 0)
                        continue;
                totals.bytes += section->text_size;
                totals.sections++;
        }
        return totals;
}

static int check_limit(const char *whose, const char *what, size_t now, size_t more, size_t limit,
                sd_bus_error *reterr) {
        if (now + more <= limit)
                return 0;

        (void) errors_set(reterr, ERROR_LIMIT_EXCEEDED,
                        "Prompt sections of %s may have at most %zu %s; there are %zu and this one adds "
                        "%zu.",
                        whose, limit, what, now, more);
        return -ENOBUFS;
}

static int check_limits(
                const SectionRegistry *registry, const char *owner, size_t size, sd_bus_error *reterr) {
        Totals own = totals_of(registry, owner), all = totals_of(registry, NULL);
        int r;

        r = check_limit("one plugin", "sections", own.sections, 1, PROMPT_OWNER_SECTIONS_MAX, reterr);
        if (r >= 0)
                r = check_limit("one plugin", "bytes", own.bytes, size, PROMPT_OWNER_BYTES_MAX, reterr);
        if (r >= 0)
                r = check_limit("all plugins together", "sections", all.sections, 1, PROMPT_SECTIONS_MAX,
                                reterr);
        if (r >= 0)
                r = check_limit("all plugins together", "bytes", all.bytes, size, PROMPT_BYTES_MAX, reterr);
        return r;
}

/* ---- the sorted list ---- */

/* Where @section stands or belongs; @ret_found tells which. */
static guint find_place(const SectionRegistry *registry, const Section *section, bool *ret_found) {
        guint low = 0, high = registry->sections->len;

        *ret_found = false;
        while (low < high) {
                guint middle = low + (high - low) / 2;
                int order = section_compare(registry->sections->pdata[middle], section);

                if (order == 0)
                        *ret_found = true;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int find_handle(const SectionRegistry *registry, uint64_t handle, guint *ret_index) {
        for (guint i = 0; i < registry->sections->len; i++)
                if (((const Section *) registry->sections->pdata[i])->handle == handle) {
                        *ret_index = i;
                        return 0;
                }

        return -ENOENT;
}

int section_registry_add(SectionRegistry *registry, const SectionOwner *owner, const char *id,
                const char *text, size_t size, bool interpolate, uint64_t *ret_handle,
                sd_bus_error *reterr) {
        g_autoptr(Section) section = NULL;
        bool found;
        guint place;
        int r;

        assert(owner->owner && owner->plugin && owner->content_hash);
        if (section_id_check(id) < 0) {
                (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "The id \"%s\" is not a lower-case letter followed by at most %u of a-z, "
                                "0-9, '_', '-'.",
                                id ? id : "", PROMPT_ID_CHARS_MAX - 1);
                return -EINVAL;
        }
        r = section_text_check(text, size, interpolate, reterr);
        if (r < 0)
                return r;

        section = section_new(owner, id, text, size, interpolate);
        place = find_place(registry, section, &found);
        if (found) {
                (void) errors_set(reterr, ERROR_INVALID_ARGUMENTS,
                                "There is a prompt section \"%s\" already; dispose it first.", id);
                return -EEXIST;
        }
        r = check_limits(registry, owner->owner, size, reterr);
        if (r < 0)
                return r;

        section->handle = ++registry->last_handle;
        *ret_handle = section->handle;
        g_ptr_array_insert(registry->sections, (int) place, g_steal_pointer(&section));
        return 0;
}

int section_registry_admit(SectionRegistry *registry, uint64_t handle) {
        Section *section;
        guint index;

        if (find_handle(registry, handle, &index) < 0)
                return -ENOENT;

        section = registry->sections->pdata[index];
        if (!section->admitted) {
                section->admitted = true;
                registry->revision++;
        }
        return 0;
}

size_t section_registry_admit_owner(SectionRegistry *registry, const char *owner) {
        size_t admitted = 0;

        for (guint i = 0; i < registry->sections->len; i++) {
                Section *section = registry->sections->pdata[i];

                if (!section->admitted && strcmp(section->owner, owner) == 0) {
                        section->admitted = true;
                        admitted++;
                }
        }
        registry->revision += admitted > 0;
        return admitted;
}

static void remove_at(SectionRegistry *registry, guint index) {
        /* What was pending was never seen, so its going changes nothing for anybody. */
        registry->revision += ((const Section *) registry->sections->pdata[index])->admitted;
        g_ptr_array_remove_index(registry->sections, index);
}

int section_registry_remove(SectionRegistry *registry, uint64_t handle) {
        guint index;

        if (find_handle(registry, handle, &index) < 0)
                return -ENOENT;

        remove_at(registry, index);
        return 0;
}

size_t section_registry_remove_owner(SectionRegistry *registry, const char *owner, const char *entry) {
        size_t removed = 0;

        for (guint i = registry->sections->len; i > 0; i--) {
                const Section *section = registry->sections->pdata[i - 1];

                if (strcmp(section->owner, owner) != 0 || (entry && strcmp(section->entry, entry) != 0))
                        continue;
                remove_at(registry, i - 1);
                removed++;
        }
        return removed;
}

uint64_t section_registry_revision(const SectionRegistry *registry) {
        return registry->revision;
}

size_t section_registry_length(const SectionRegistry *registry) {
        return registry->sections->len;
}

const Section *section_registry_find(const SectionRegistry *registry, uint64_t handle) {
        guint index;

        return find_handle(registry, handle, &index) < 0 ? NULL : registry->sections->pdata[index];
}
