/* SPDX-License-Identifier: MIT */
/* The transitions of contract 2.5 that change a record of the state file, and the check of 2.8. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "service/plugin-private.h"
#include "service/staging.h"

/* How often a decision is made anew because another process changed the record in between. */
#define TRIES_MAX 8

typedef int (*PluginDecide)(PluginSet *set, Plugin *plugin, TrustRecord *record, void *userdata, sd_bus_error *reterr);

static const TrustRecord *expected_record(const Plugin *plugin) {
        return plugin->record->generation > 0 ? plugin->record : NULL;
}

/* Whoever kept a reference may ask for a plugin that a reload did not find again. */
static int check_there(const Plugin *plugin, sd_bus_error *reterr) {
        return plugin->found ? 0 : errors_set(reterr, ERROR_NO_SUCH_PLUGIN, "%s is not there any more.", plugin->id);
}

/* Reads the state, lets @decide change a copy of the record, writes it, brings the plugin up to date and says so. */
static int change_record(PluginSet *set, Plugin *plugin, PluginDecide decide, void *userdata, sd_bus_error *reterr) {
        for (int tries = 0; tries < TRIES_MAX; tries++) {
                g_autoptr(TrustRecord) wanted = NULL;
                int r;

                r = plugin_set_sync_state(set, reterr);
                if (r >= 0)
                        r = check_there(plugin, reterr);
                if (r < 0)
                        return r;
                wanted = trust_record_copy(plugin->record);
                r = decide(set, plugin, wanted, userdata, reterr);
                if (r < 0)
                        return r;
                r = trust_state_update(set->state, plugin->id, expected_record(plugin), wanted, reterr);
                if (r == -ESTALE)
                        continue;
                if (r >= 0)
                        plugin_set_adopt_record(set, plugin);
                return r;
        }
        return errors_set(reterr, ERROR_BUSY, "The state file keeps changing.");
}

void plugin_set_adopt_record(PluginSet *set, Plugin *plugin) {
        PluginChange change = plugin_change_begin(plugin);

        plugin_set_take_state(set, plugin);
        plugin_change_end(set, &change);
}

static bool is_hash(const char *text, size_t length) {
        return length == SHA256_HEX_CHARS && strspn(text, "0123456789abcdef") >= SHA256_HEX_CHARS;
}

int plugin_check_token(const Plugin *plugin, const char *token, sd_bus_error *reterr) {
        const char *dot = strchr(token, '.');
        const Diagnostic *error = diagnostics_first_error(plugin->diagnostics);

        if (!dot || !is_hash(token, (size_t) (dot - token)) || !is_hash(dot + 1, strlen(dot + 1)))
                return errors_set(reterr, ERROR_INVALID_TOKEN,
                                "The token is not one: it must be two hashes of 64 hex digits with a dot between them, as "
                                "the review prints it.");
        if (plugin->stale)
                return errors_set(reterr, ERROR_INVALID_BUNDLE, "%s can't be loaded any more; reload and see.",
                                plugin->root_display);
        if (error)
                return errors_set(reterr, ERROR_INVALID_BUNDLE, "It has an error (%s): %s",
                                diagnostic_code_to_string(error->code), error->message);
        if (strncmp(token, plugin->bundle->content_hash, SHA256_HEX_CHARS) != 0)
                return errors_set(reterr, ERROR_CONTENT_CHANGED,
                                "The token is for other content than what is there now; review it again.");
        if (strcmp(dot + 1, plugin->bundle->capability_hash) != 0)
                return errors_set(reterr, ERROR_CAPABILITIES_CHANGED,
                                "The token is for other capabilities than what is asked for or allowed now; review it again.");
        return 0;
}

/* A copy of these very bytes may be there already, with its type-erased modules. */
static bool reuse_staged(const Plugin *plugin, TrustReceipt *receipt) {
        const TrustReceipt *old = plugin->record->trust;

        if (!plugin->staged || !old || strcmp(old->content_hash, receipt->content_hash) != 0)
                return false;
        for (size_t i = 0; i < old->erased->len; i++) {
                const TrustErased *erased = g_ptr_array_index(old->erased, i);

                trust_receipt_add_erased(receipt, erased->path, erased->erased_path, erased->erased_sha256);
        }
        return true;
}

int plugin_set_stage(
                PluginSet *set, Plugin *plugin, const StagingErased *erased, size_t n_erased, const TrustReceipt *receipt,
                sd_bus_error *reterr) {
        _cleanup_close_ int root = safe_open_directory(plugin->root);

        if (root < 0)
                return errors_set(reterr, ERROR_IO, "%s can't be opened: %s.", plugin->root_display, g_strerror(-root));
        /* A call of the plugin may have looked at it again since the token was checked. */
        if (!plugin->bundle->tree || strcmp(plugin->bundle->content_hash, receipt->content_hash) != 0)
                return errors_set(reterr, ERROR_CONTENT_CHANGED, "%s changed meanwhile; review it again.", plugin->root_display);
        return staging_make(set->home, plugin->id, root, plugin->bundle, erased, n_erased, receipt, set->progress, reterr);
}

static int decide_trust(PluginSet *set, Plugin *plugin, TrustRecord *record, void *userdata, sd_bus_error *reterr) {
        const TrustReceipt *receipt = userdata;

        (void) set;
        (void) plugin;
        (void) reterr;
        trust_record_give(record, trust_receipt_copy(receipt));
        record->enabled = false;
        return 0;
}

int plugin_set_begin_trust(
                PluginSet *set, Plugin *plugin, const char *token, const char *confirmed_by, TrustReceipt **ret_receipt,
                bool *ret_reuse, sd_bus_error *reterr) {
        g_auto(GStrv) names = NULL;
        int r;

        (void) set;
        r = plugin_check_token(plugin, token, reterr);
        if (r < 0)
                return r;

        names = inventory_names(&plugin->bundle->inventory);
        *ret_receipt = trust_receipt_new(plugin->bundle->content_hash, plugin->bundle->capability_hash,
                        (const char *const *) names, (int64_t) time(NULL), confirmed_by);
        *ret_reuse = reuse_staged(plugin, *ret_receipt);
        return 0;
}

int plugin_set_end_trust(PluginSet *set, Plugin *plugin, const TrustReceipt *receipt, sd_bus_error *reterr) {
        return change_record(set, plugin, decide_trust, (void *) receipt, reterr);
}

int plugin_set_trust(PluginSet *set, Plugin *plugin, const char *token, const char *confirmed_by, sd_bus_error *reterr) {
        g_autoptr(TrustReceipt) receipt = NULL;
        PluginChange change;
        bool reuse = false;
        int r;

        assert(set && plugin && token && confirmed_by);

        r = plugin_set_sync_state(set, reterr);
        if (r >= 0)
                r = check_there(plugin, reterr);
        if (r < 0)
                return r;

        change = plugin_change_begin(plugin);
        plugin_set_load_bundle(set, plugin, true);
        plugin_set_load_staged(set, plugin);
        plugin_change_end(set, &change);

        r = plugin_set_begin_trust(set, plugin, token, confirmed_by, &receipt, &reuse, reterr);
        if (r >= 0 && !reuse)
                r = plugin_set_stage(set, plugin, NULL, 0, receipt, reterr);
        return r < 0 ? r : plugin_set_end_trust(set, plugin, receipt, reterr);
}

/* Why a plugin that is not active, or would not be, is refused; 0 when nothing speaks against it. */
static int check_usable(const Plugin *plugin, sd_bus_error *reterr) {
        const char *name = NULL, *text = NULL;

        switch (plugin_get_trust(plugin)) {
        case TRUST_NOT_REVIEWED:
                name = ERROR_NOT_TRUSTED;
                text = "It has not been reviewed. Review it and trust it first.";
                break;
        case TRUST_CONTENT_CHANGED:
                name = ERROR_CONTENT_CHANGED;
                text = "Its content changed since it was reviewed. Review it again.";
                break;
        case TRUST_CAPABILITIES_CHANGED:
                name = ERROR_CAPABILITIES_CHANGED;
                text = "What it asks for, or what this service allows, changed since it was reviewed. Review it again.";
                break;
        default:
                break;
        }
        if (name)
                return errors_set(reterr, name, "%s: %s", plugin->name, text);

        switch (plugin_get_label(plugin)) {
        case PLUGIN_ACTIVE:
        case PLUGIN_DISABLED:
                if (plugin->staged)
                        return 0;
                return errors_set(reterr, ERROR_NOT_ACTIVE,
                                "%s: Its sealed copy is gone or was altered. Trust it again.", plugin->name);
        default:
                return errors_set(reterr, ERROR_NOT_ACTIVE, "%s: %s", plugin->name, plugin->reason);
        }
}

/* Looks at the bytes again where they may have changed; announces what that finds. */
static void look_again(PluginSet *set, Plugin *plugin) {
        PluginChange change = plugin_change_begin(plugin);
        _cleanup_close_ int root = safe_open_directory(plugin->root);

        if (root < 0 || plugin->stale || !plugin->bundle->tree || !bundle_tree_is_unchanged(plugin->bundle->tree, root))
                plugin_set_load_bundle(set, plugin, false);
        plugin_set_load_staged(set, plugin);
        plugin_change_end(set, &change);
}

static int decide_enable(PluginSet *set, Plugin *plugin, TrustRecord *record, void *userdata, sd_bus_error *reterr) {
        (void) userdata;
        look_again(set, plugin);
        record->enabled = true;
        return check_usable(plugin, reterr);
}

int plugin_set_enable(PluginSet *set, Plugin *plugin, sd_bus_error *reterr) {
        return change_record(set, plugin, decide_enable, NULL, reterr);
}

static int decide_disable(PluginSet *set, Plugin *plugin, TrustRecord *record, void *userdata, sd_bus_error *reterr) {
        (void) set;
        (void) plugin;
        (void) userdata;
        (void) reterr;
        record->enabled = false;
        return 0;
}

int plugin_set_disable(PluginSet *set, Plugin *plugin, sd_bus_error *reterr) {
        return change_record(set, plugin, decide_disable, NULL, reterr);
}

static int decide_revoke(PluginSet *set, Plugin *plugin, TrustRecord *record, void *userdata, sd_bus_error *reterr) {
        (void) set;
        (void) plugin;
        (void) userdata;
        (void) reterr;
        record->trust = trust_receipt_free(record->trust);
        return 0;
}

int plugin_set_revoke(PluginSet *set, Plugin *plugin, sd_bus_error *reterr) {
        return change_record(set, plugin, decide_revoke, NULL, reterr);
}

bool plugin_is_unchanged(const Plugin *plugin) {
        _cleanup_close_ int root = safe_open_directory(plugin->root);

        return root >= 0 && !plugin->stale && plugin->bundle->tree && plugin->staged &&
                        bundle_tree_is_unchanged(plugin->bundle->tree, root) &&
                        staged_copy_is_unchanged(plugin->staged);
}

int plugin_set_verify(PluginSet *set, Plugin *plugin, uint64_t generation, sd_bus_error *reterr) {
        int r;

        assert(set && plugin);

        r = plugin_set_sync_state(set, reterr);
        if (r >= 0)
                r = check_there(plugin, reterr);
        if (r < 0)
                return r;
        if (!plugin_is_unchanged(plugin))
                look_again(set, plugin);
        else if (set->leases)
                staged_copy_lease(plugin->staged, set->leases);

        r = check_usable(plugin, reterr);
        if (r < 0)
                return r;
        if (!plugin->record->enabled)
                return errors_set(reterr, ERROR_NOT_ACTIVE, "%s is switched off.", plugin->name);
        if (plugin->record->generation != generation)
                return errors_set(reterr, ERROR_NOT_ACTIVE, "%s was enabled or trusted anew in the meantime.", plugin->name);
        return 0;
}
