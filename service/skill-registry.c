/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/errors.h"
#include "common/limits.h"
#include "service/skill-limit.h"
#include "service/skill-path.h"
#include "service/skill-scan.h"

typedef struct Proposal {
        SkillRoot *root;
        SkillScan *scan; /* NULL before its turn */
        SkillAnswer answer;
        void *userdata;
} Proposal;

struct SkillRegistry {
        GPtrArray *roots;     /* SkillRoot; admitted ones */
        GPtrArray *proposals; /* Proposal; the first is being looked through */
        sd_event_source *work;
        uint64_t (*number)(void *userdata);
        void (*changed)(void *userdata);
        void *userdata;
};

static SkillRoot *root_free(SkillRoot *root) {
        if (!root)
                return NULL;

        owner_unref(root->owner);
        g_free(root->path);
        g_clear_pointer(&root->skills, g_ptr_array_unref);
        g_free(root);
        return NULL;
}

static void release_root(void *root) {
        root_free(root);
}

static void release_proposal(void *pointer) {
        Proposal *proposal = pointer;

        root_free(proposal->root);
        skill_scan_free(proposal->scan);
        g_free(proposal);
}

static int on_work(sd_event_source *source, void *userdata);

SkillRegistry *skill_registry_new(
                sd_event *event, uint64_t (*number)(void *userdata), void (*changed)(void *userdata), void *userdata) {
        SkillRegistry *registry = g_new0(SkillRegistry, 1);

        registry->roots = g_ptr_array_new_with_free_func(release_root);
        registry->proposals = g_ptr_array_new_with_free_func(release_proposal);
        registry->number = number;
        registry->changed = changed;
        registry->userdata = userdata;
        if (event && sd_event_add_defer(event, &registry->work, on_work, registry) >= 0)
                (void) sd_event_source_set_enabled(registry->work, SD_EVENT_OFF);
        return registry;
}

SkillRegistry *skill_registry_free(SkillRegistry *registry) {
        if (!registry)
                return NULL;

        sd_event_source_disable_unref(registry->work);
        g_ptr_array_unref(registry->proposals);
        g_ptr_array_unref(registry->roots);
        g_free(registry);
        return NULL;
}

static void tell_changed(const SkillRegistry *registry) {
        if (registry->changed)
                registry->changed(registry->userdata);
}

/* As registration_is_usable(): active, or known from a record whose plugin is on its way at most. */
static bool root_is_usable(const SkillRoot *root) {
        OwnerState owner = owner_get_state(root->owner), entry = root->entry->state;

        return (owner == OWNER_ACTIVE && entry == OWNER_ACTIVE) ||
                        (owner == OWNER_LISTED && root->listed && (entry == OWNER_LISTED || entry == OWNER_ACTIVE));
}

static bool root_is_live(const SkillRoot *root) {
        OwnerState entry = root->entry->state;

        return owner_is_live(root->owner) && (entry == OWNER_ACTIVATING || entry == OWNER_LISTED || entry == OWNER_ACTIVE);
}

/* ---- limits ---- */

unsigned skill_registry_count_roots(const SkillRegistry *registry, const Owner *owner) {
        unsigned n = 0;

        for (size_t i = 0; i < registry->roots->len; i++)
                n += !owner || ((const SkillRoot *) g_ptr_array_index(registry->roots, i))->owner == owner;
        for (size_t i = 0; i < registry->proposals->len; i++)
                n += !owner || ((const Proposal *) g_ptr_array_index(registry->proposals, i))->root->owner == owner;
        return n;
}

static bool has_path(const SkillRegistry *registry, const SkillRoot *root) {
        for (size_t i = 0; i < registry->roots->len; i++) {
                const SkillRoot *other = g_ptr_array_index(registry->roots, i);

                if (other->owner == root->owner && other->entry == root->entry && strcmp(other->path, root->path) == 0)
                        return true;
        }
        for (size_t i = 0; i < registry->proposals->len; i++) {
                const SkillRoot *other = ((const Proposal *) g_ptr_array_index(registry->proposals, i))->root;

                if (other->owner == root->owner && other->entry == root->entry && strcmp(other->path, root->path) == 0)
                        return true;
        }
        return false;
}

/* Why a root can't even be looked at; NULL when it can. */
static char *proposal_refusal(const SkillRegistry *registry, const SkillRoot *root, size_t path_size) {
        const char *problem = root->declared ? NULL : skill_path_check(root->path, path_size);

        if (problem)
                return g_strdup_printf("the path of a skill root %s", problem);
        if (has_path(registry, root))
                return g_strdup_printf("'%s' is registered already; dispose that first", root->path);
        if (skill_registry_count_roots(registry, root->owner) >= SKILL_ROOTS_PER_OWNER_MAX)
                return g_strdup_printf("a plugin may have at most %u skill roots", SKILL_ROOTS_PER_OWNER_MAX);
        if (skill_registry_count_roots(registry, NULL) >= SKILL_ROOTS_MAX)
                return g_strdup_printf("there are %u skill roots already, which is the most for all plugins together", SKILL_ROOTS_MAX);
        return NULL;
}

static size_t skills_bytes(const GPtrArray *skills) {
        size_t bytes = 0;

        for (size_t i = 0; i < skills->len; i++)
                bytes += ((const Skill *) g_ptr_array_index(skills, i))->matter->kept;
        return bytes;
}

/* ---- proposals ---- */

/* Ends the proposal at @index; with @refusal NULL its root is admitted. */
static void proposal_end(SkillRegistry *registry, size_t index, const char *refusal) {
        Proposal *proposal = g_ptr_array_steal_index(registry->proposals, (guint) index);
        uint64_t handle = 0;

        if (!refusal) {
                handle = proposal->root->handle = registry->number(registry->userdata);
                g_ptr_array_add(registry->roots, g_steal_pointer(&proposal->root));
        }
        proposal->answer(handle, refusal, proposal->userdata);
        release_proposal(proposal);
        if (handle != 0)
                tell_changed(registry);
}

/* Whatever was true when the proposal came may have changed while the folder was read. */
static void proposal_admit(SkillRegistry *registry, Proposal *proposal) {
        SkillRoot *root = proposal->root;
        g_autofree char *refusal = NULL;

        root->skills = skill_scan_steal(proposal->scan);
        root->kept = skills_bytes(root->skills);
        if (!root_is_live(root))
                refusal = g_strdup("the entry is not live any more");
        if (!refusal)
                refusal = skill_limit_refuse(registry->roots, root);
        proposal_end(registry, 0, refusal);
}

static int proposal_scan(Proposal *proposal, char **ret_refusal) {
        const SkillRoot *root = proposal->root;
        Plugin *plugin = owner_get_plugin(root->owner);

        return root->declared ? skill_scan_new_declared(plugin, &proposal->scan, ret_refusal) :
                                skill_scan_new(plugin, root->path, &proposal->scan, ret_refusal);
}

static void registry_step(SkillRegistry *registry) {
        Proposal *proposal = g_ptr_array_index(registry->proposals, 0);
        g_autofree char *refusal = NULL;
        int r;

        if (!proposal->scan)
                r = proposal_scan(proposal, &refusal) < 0 ? -1 : 1;
        else
                r = skill_scan_step(proposal->scan, &refusal);
        if (r < 0)
                proposal_end(registry, 0, refusal);
        else if (r == 0)
                proposal_admit(registry, proposal);
}

static int on_work(sd_event_source *source, void *userdata) {
        SkillRegistry *registry = userdata;

        if (registry->proposals->len > 0)
                registry_step(registry);
        (void) sd_event_source_set_enabled(source, registry->proposals->len > 0 ? SD_EVENT_ON : SD_EVENT_OFF);
        return 0;
}

static bool is_listed_as(const SkillRoot *root, const SkillRoot *fresh) {
        return root->listed && !root->confirmed && root->owner == fresh->owner && root->entry == fresh->entry &&
                        strcmp(root->path, fresh->path) == 0;
}

/* Whether the record named it already; it is answered then, now or when its folder was looked through. */
static bool confirm_listed(SkillRegistry *registry, const SkillRoot *fresh, SkillAnswer answer, void *userdata) {
        for (size_t i = 0; i < registry->roots->len; i++) {
                SkillRoot *root = g_ptr_array_index(registry->roots, i);

                if (!is_listed_as(root, fresh))
                        continue;
                root->confirmed = true;
                answer(root->handle, NULL, userdata);
                return true;
        }
        for (size_t i = 0; i < registry->proposals->len; i++) {
                Proposal *proposal = g_ptr_array_index(registry->proposals, i);

                if (!is_listed_as(proposal->root, fresh))
                        continue;
                proposal->root->confirmed = true;
                proposal->answer = answer;
                proposal->userdata = userdata;
                return true;
        }
        return false;
}

static void propose(SkillRegistry *registry, SkillRoot *root, SkillAnswer answer, void *userdata) {
        Proposal *proposal = g_new0(Proposal, 1);

        *proposal = (Proposal) { .root = root, .answer = answer, .userdata = userdata };
        g_ptr_array_add(registry->proposals, proposal);
        if (registry->work)
                (void) sd_event_source_set_enabled(registry->work, SD_EVENT_ON);
        else
                while (registry->proposals->len > 0)
                        registry_step(registry);
}

void skill_registry_propose(
                SkillRegistry *registry, Owner *owner, OwnerEntry *entry, const char *path, size_t path_size, SkillAnswer answer,
                void *userdata) {
        SkillRoot *root = g_new0(SkillRoot, 1);
        g_autofree char *refusal = NULL;

        *root = (SkillRoot) { .owner = owner_ref(owner), .entry = entry, .path = g_strndup(path, path_size) };
        if (confirm_listed(registry, root, answer, userdata)) {
                root_free(root);
                return;
        }
        refusal = proposal_refusal(registry, root, path_size);
        if (refusal) {
                root_free(root);
                answer(0, refusal, userdata);
                return;
        }
        propose(registry, root, answer, userdata);
}

void skill_registry_declare(SkillRegistry *registry, Owner *owner, SkillAnswer answer, void *userdata) {
        SkillRoot *root = g_new0(SkillRoot, 1);
        g_autofree char *refusal = NULL;

        *root = (SkillRoot) {
                .owner = owner_ref(owner), .entry = owner_get_entry(owner, 0), .declared = true,
                .path = g_strjoinv(", ", plugin_get_skill_folders(owner_get_plugin(owner))),
        };
        refusal = proposal_refusal(registry, root, 0);
        if (refusal) {
                root_free(root);
                answer(0, refusal, userdata);
                return;
        }
        propose(registry, root, answer, userdata);
}

static void on_listed(uint64_t handle, const char *refusal, void *userdata) {
        (void) handle;
        (void) refusal;
        (void) userdata;
}

int skill_registry_list(
                SkillRegistry *registry, Owner *owner, OwnerEntry *entry, const char *path, size_t path_size, char **ret_refusal) {
        SkillRoot *root = g_new0(SkillRoot, 1);
        char *refusal;

        *root = (SkillRoot) { .owner = owner_ref(owner), .entry = entry, .path = g_strndup(path, path_size), .listed = true };
        refusal = proposal_refusal(registry, root, path_size);
        if (refusal) {
                root_free(root);
                *ret_refusal = refusal;
                return -EPERM;
        }
        propose(registry, root, on_listed, NULL);
        return 0;
}

/* ---- taking away ---- */

unsigned skill_registry_settle(SkillRegistry *registry, const Owner *owner, unsigned *ret_added) {
        unsigned confirmed = 0, added = 0, gone = 0;

        for (size_t i = registry->proposals->len; i > 0; i--) {
                const SkillRoot *root = ((const Proposal *) g_ptr_array_index(registry->proposals, i - 1))->root;

                if (root->owner == owner && root->listed && !root->confirmed)
                        proposal_end(registry, i - 1, "its plugin does not register it any more");
        }
        for (size_t i = registry->roots->len; i > 0; i--) {
                const SkillRoot *root = g_ptr_array_index(registry->roots, i - 1);

                if (root->owner != owner)
                        continue;
                confirmed += root->confirmed;
                added += !root->listed;
                if (root->listed && !root->confirmed) {
                        g_ptr_array_remove_index(registry->roots, (guint) i - 1);
                        gone++;
                }
        }
        if (gone > 0)
                tell_changed(registry);
        *ret_added = added;
        return confirmed;
}

bool skill_registry_unregister(SkillRegistry *registry, Owner *owner, uint64_t handle) {
        for (size_t i = 0; i < registry->roots->len; i++) {
                const SkillRoot *root = g_ptr_array_index(registry->roots, i);

                if (root->handle != handle || root->owner != owner)
                        continue;
                g_ptr_array_remove_index(registry->roots, (guint) i);
                tell_changed(registry);
                return true;
        }
        return false;
}

void skill_registry_withdraw(SkillRegistry *registry, Owner *owner, const OwnerEntry *entry) {
        bool changed = false;

        for (size_t i = registry->proposals->len; i > 0; i--) {
                const Proposal *proposal = g_ptr_array_index(registry->proposals, i - 1);

                if (proposal->root->owner == owner && (!entry || proposal->root->entry == entry))
                        proposal_end(registry, i - 1, "the entry was withdrawn");
        }
        for (size_t i = registry->roots->len; i > 0; i--) {
                const SkillRoot *root = g_ptr_array_index(registry->roots, i - 1);

                if (root->owner != owner || (entry && root->entry != entry))
                        continue;
                g_ptr_array_remove_index(registry->roots, (guint) i - 1);
                changed = true;
        }
        if (changed)
                tell_changed(registry);
}

void skill_registry_foreach_root(
                const SkillRegistry *registry, const Owner *owner, void (*each)(const SkillRoot *root, void *userdata), void *userdata) {
        for (size_t i = 0; i < registry->roots->len; i++)
                if (((const SkillRoot *) g_ptr_array_index(registry->roots, i))->owner == owner)
                        each(g_ptr_array_index(registry->roots, i), userdata);
}

void skill_registry_announce(SkillRegistry *registry, const Owner *owner) {
        if (skill_registry_count_roots(registry, owner) > 0)
                tell_changed(registry);
}

/* ---- looking ---- */

static bool is_chosen(const SkillRoot *root, const Selection *selection) {
        return root_is_usable(root) && selection_has(selection, owner_get_plugin(root->owner), root->entry->path);
}

/* Whether code of the same plugin registered the very file that its manifest declares: it is one skill, not two of one name. */
static bool is_registered_too(const SkillRegistry *registry, const Selection *selection, const SkillRoot *root, const Skill *skill) {
        for (size_t i = 0; root->declared && i < registry->roots->len; i++) {
                const SkillRoot *other = g_ptr_array_index(registry->roots, i);

                if (!other->declared && owner_get_plugin(other->owner) == owner_get_plugin(root->owner) &&
                    is_chosen(other, selection) && skill_root_has_file(other, skill->path))
                        return true;
        }
        return false;
}

void skill_registry_foreach(const SkillRegistry *registry, const Selection *selection, SkillEach each, void *userdata) {
        for (size_t i = 0; i < registry->roots->len; i++) {
                const SkillRoot *root = g_ptr_array_index(registry->roots, i);

                for (size_t n = 0; is_chosen(root, selection) && n < root->skills->len; n++) {
                        const Skill *skill = g_ptr_array_index(root->skills, n);

                        if (!is_registered_too(registry, selection, root, skill))
                                each(root, skill, userdata);
                }
        }
}

typedef struct Search {
        const char *qualified;
        const SkillRoot *root;
        const Skill *skill;
        unsigned n;
} Search;

static void look_at(const SkillRoot *root, const Skill *skill, void *userdata) {
        Search *search = userdata;

        if (g_ascii_strcasecmp(skill->qualified, search->qualified) != 0)
                return;
        search->root = root;
        search->skill = skill;
        search->n++;
}

int skill_registry_find(
                const SkillRegistry *registry, const Selection *selection, const char *qualified, const SkillRoot **ret_root,
                const Skill **ret, sd_bus_error *reterr) {
        Search search = { .qualified = qualified };

        skill_registry_foreach(registry, selection, look_at, &search);
        if (search.n == 0)
                return errors_set(reterr, ERROR_NO_SUCH_SKILL, "There is no skill '%.256s' here; 'codewhalectl skills' lists those there are.",
                                  qualified);
        if (search.n > 1)
                return errors_set(reterr, ERROR_NO_SUCH_SKILL, "%u entries that this session uses offer '%.256s'.", search.n, qualified);

        *ret_root = search.root;
        *ret = search.skill;
        return 0;
}
