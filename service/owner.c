/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/sha256.h"
#include "service/owner.h"

struct Owner {
        unsigned n_ref;
        Plugin *plugin;
        char *content_hash;
        uint64_t generation;
        uint64_t state_generation;
        char token[SHA256_HEX_CHARS + 1];
        OwnerState state;
        bool touched;
        char *reason;
        GPtrArray *entries;
};

static const char *const owner_state_table[_OWNER_STATE_MAX] = {
        [OWNER_ACTIVATING] = "activating",
        [OWNER_LISTED] = "listed",
        [OWNER_ACTIVE] = "active",
        [OWNER_FAILED] = "failed",
        [OWNER_FAULTED] = "faulted",
        [OWNER_REVOKED] = "revoked",
};

#define TO(state) (1u << (state))
G_GNUC_UNUSED static const unsigned allowed_moves[_OWNER_STATE_MAX] = {
        [OWNER_ACTIVATING] = TO(OWNER_LISTED) | TO(OWNER_ACTIVE) | TO(OWNER_FAILED) | TO(OWNER_FAULTED) | TO(OWNER_REVOKED),
        [OWNER_LISTED] = TO(OWNER_ACTIVE) | TO(OWNER_FAILED) | TO(OWNER_FAULTED) | TO(OWNER_REVOKED),
        [OWNER_ACTIVE] = TO(OWNER_FAILED) | TO(OWNER_FAULTED) | TO(OWNER_REVOKED),
        [OWNER_FAILED] = TO(OWNER_REVOKED),
        [OWNER_FAULTED] = TO(OWNER_REVOKED),
        [OWNER_REVOKED] = 0,
};

const char *owner_state_to_string(OwnerState state) {
        return owner_state_table[state];
}

static void owner_entry_free(void *pointer) {
        OwnerEntry *entry = pointer;

        g_free(entry->path);
        g_free(entry->sha256);
        g_free(entry->failure);
        g_free(entry);
}

static int owner_make_token(Owner *owner) {
        uint8_t random[SHA256_BYTES];

        if (getrandom(random, sizeof random, 0) != sizeof random)
                return -EIO;
        for (size_t i = 0; i < sizeof random; i++)
                (void) snprintf(owner->token + 2 * i, 3, "%02x", random[i]);
        return 0;
}

static void owner_add_entries(Owner *owner) {
        PluginFile file;

        for (size_t i = 0; plugin_get_native(owner->plugin, i, &file); i++) {
                OwnerEntry *entry = g_new0(OwnerEntry, 1);

                entry->path = g_strdup(file.path);
                entry->sha256 = g_strdup(file.sha256);
                g_ptr_array_add(owner->entries, entry);
        }
}

/* One without entries, and without a generation yet. */
static int owner_make(Plugin *plugin, Owner **ret) {
        g_autoptr(Owner) owner = g_new0(Owner, 1);
        int r;

        owner->n_ref = 1;
        owner->plugin = plugin_ref(plugin);
        owner->entries = g_ptr_array_new_with_free_func(owner_entry_free);
        owner->content_hash = g_strdup(plugin_get_content_hash(plugin));
        owner->state_generation = plugin_get_generation(plugin);
        r = owner_make_token(owner);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&owner);
        return 0;
}

/* Beginning with the time keeps generations, and with them unit names, unique over restarts of the service. */
static uint64_t next_generation(void) {
        static uint64_t last_generation;

        if (last_generation == 0)
                last_generation = (uint64_t) g_get_real_time() / 1000;
        return ++last_generation;
}

int owner_new(Plugin *plugin, Owner **ret) {
        g_autoptr(Owner) owner = NULL;
        int r = owner_make(plugin, &owner);

        if (r < 0)
                return r;
        owner_add_entries(owner);
        if (owner->entries->len == 0)
                return -ENOEXEC;

        owner->generation = next_generation();
        *ret = g_steal_pointer(&owner);
        return 0;
}

int owner_new_declared(Plugin *plugin, const char *component, Owner **ret) {
        g_autoptr(Owner) owner = NULL;
        OwnerEntry *entry;
        int r = owner_make(plugin, &owner);

        if (r < 0)
                return r;
        entry = g_new0(OwnerEntry, 1);
        entry->path = g_strdup(component);
        entry->sha256 = g_strdup(owner->content_hash);
        entry->state = OWNER_ACTIVE;
        g_ptr_array_add(owner->entries, entry);
        owner->state = OWNER_ACTIVE;
        owner->generation = next_generation();
        *ret = g_steal_pointer(&owner);
        return 0;
}

Owner *owner_ref(Owner *owner) {
        owner->n_ref++;
        return owner;
}

Owner *owner_unref(Owner *owner) {
        if (!owner || --owner->n_ref > 0)
                return NULL;

        g_ptr_array_unref(owner->entries);
        plugin_unref(owner->plugin);
        explicit_bzero(owner->token, sizeof owner->token);
        g_free(owner->content_hash);
        g_free(owner->reason);
        g_free(owner);
        return NULL;
}

Plugin *owner_get_plugin(const Owner *owner) {
        return owner->plugin;
}

const char *owner_get_plugin_id(const Owner *owner) {
        return plugin_get_id(owner->plugin);
}

uint64_t owner_get_generation(const Owner *owner) {
        return owner->generation;
}

uint64_t owner_get_state_generation(const Owner *owner) {
        return owner->state_generation;
}

const char *owner_get_token(const Owner *owner) {
        return owner->token;
}

const char *owner_get_content_hash(const Owner *owner) {
        return owner->content_hash;
}

OwnerState owner_get_state(const Owner *owner) {
        return owner->state;
}

const char *owner_get_reason(const Owner *owner) {
        return owner->reason;
}

void owner_set_state(Owner *owner, OwnerState state, const char *reason) {
        if (owner->state == state)
                return;

        assert(allowed_moves[owner->state] & TO(state));
        owner->state = state;
        g_free(owner->reason);
        owner->reason = g_strdup(reason);
}

size_t owner_count_entries(const Owner *owner) {
        return owner->entries->len;
}

OwnerEntry *owner_get_entry(const Owner *owner, size_t index) {
        return index < owner->entries->len ? g_ptr_array_index(owner->entries, index) : NULL;
}

OwnerEntry *owner_find_entry(const Owner *owner, const char *path, const char *sha256) {
        for (size_t i = 0; i < owner->entries->len; i++) {
                OwnerEntry *entry = g_ptr_array_index(owner->entries, i);

                if (g_strcmp0(entry->path, path) == 0 && g_strcmp0(entry->sha256, sha256) == 0)
                        return entry;
        }
        return NULL;
}

void owner_entry_set_state(OwnerEntry *entry, OwnerState state, const char *failure) {
        assert(entry->state == state || (allowed_moves[entry->state] & TO(state)));
        entry->state = state;
        g_free(entry->failure);
        entry->failure = g_strdup(failure);
}

void owner_list(Owner *owner) {
        owner_set_state(owner, OWNER_LISTED, NULL);
        for (size_t i = 0; i < owner->entries->len; i++)
                owner_entry_set_state(g_ptr_array_index(owner->entries, i), OWNER_LISTED, NULL);
}

void owner_touch(Owner *owner) {
        if (owner->state == OWNER_ACTIVE)
                owner->touched = true;
}

bool owner_was_touched(const Owner *owner) {
        return owner->touched;
}

bool owner_is_live(const Owner *owner) {
        return owner->state == OWNER_ACTIVATING || owner->state == OWNER_LISTED || owner->state == OWNER_ACTIVE;
}

static bool token_equal(const Owner *owner, const char *token) {
        unsigned difference = 0;

        if (!token || strlen(token) != SHA256_HEX_CHARS)
                return false;
        for (size_t i = 0; i < SHA256_HEX_CHARS; i++)
                difference |= (unsigned char) token[i] ^ (unsigned char) owner->token[i];
        return difference == 0;
}

bool owner_matches(const Owner *owner, Jval object) {
        uint64_t generation;

        return jval_equals_text(jval_member(object, "plugin_id"), owner_get_plugin_id(owner)) &&
                        jval_uint64(jval_member(object, "generation"), &generation) >= 0 &&
                        generation == owner->generation &&
                        token_equal(owner, jval_text(jval_member(object, "owner_token")));
}

void owner_write(const Owner *owner, JWriter *writer) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "plugin_id", owner_get_plugin_id(owner));
        jwriter_member_uint(writer, "generation", owner->generation);
        jwriter_member_string(writer, "owner_token", owner->token);
        jwriter_end_object(writer);
}
