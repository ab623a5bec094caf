/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/safe-file.h"
#include "common/sha256.h"
#include "host-bundle-digest.h"
#include "service/registration-record.h"
#include "service/wire-method.h"

/* The file is {"format":1,"key":"…","digest":"…","registrations":[…]}: the key names what it holds for, the digest covers
 * key and registrations byte for byte. */

#define FORMAT 1u
#define KEY_DOMAIN "codewhale registrations 1"

static const ShapeField record_fields[] = {
        { .name = "format", .type = SHAPE_UINT },
        { .name = "plugin", .type = SHAPE_TEXT, .max = 128 },
        { .name = "key", .type = SHAPE_SHA256 },
        { .name = "digest", .type = SHAPE_SHA256 },
        { .name = "registrations", .type = SHAPE_ANY },
        {},
};

static char *record_name(const Plugin *plugin) {
        return g_strdup_printf("%s.json", plugin_get_data_name(plugin));
}

/* All that the registrations may depend on. */
static char *record_key(const Owner *owner, const char *config) {
        const Plugin *plugin = owner_get_plugin(owner);
        g_autoptr(Sha256) hash = sha256_new();
        const OwnerEntry *entry;

        sha256_update_text(hash, KEY_DOMAIN);
        sha256_update_framed(hash, PROJECT_VERSION, strlen(PROJECT_VERSION));
        sha256_update_text(hash, HOST_BUNDLE_SHA256);
        sha256_update_framed(hash, plugin_get_id(plugin), strlen(plugin_get_id(plugin)));
        sha256_update_text(hash, plugin_get_content_hash(plugin) ?: "");
        sha256_update_text(hash, plugin_get_capability_hash(plugin) ?: "");
        sha256_update_u64(hash, owner_get_state_generation(owner));
        sha256_update_framed(hash, config, strlen(config));
        for (size_t i = 0; (entry = owner_get_entry(owner, i)); i++) {
                sha256_update_framed(hash, entry->path, strlen(entry->path));
                sha256_update_text(hash, entry->sha256);
        }
        return sha256_finish_hex(hash);
}

static char *record_digest(const char *key, const char *registrations, size_t size) {
        g_autoptr(Sha256) hash = sha256_new();

        sha256_update_text(hash, key);
        sha256_update(hash, registrations, size);
        return sha256_finish_hex(hash);
}

int registration_record_write(CodewhaleHome *home, const Registry *registry, const Owner *owner, const char *config) {
        g_autofree char *name = record_name(owner_get_plugin(owner)), *key = record_key(owner, config), *digest = NULL;
        g_autofree char *registrations = NULL, *text = NULL;
        _cleanup_close_ int directory = -EBADF;
        g_auto(JWriter) list = {}, writer = {};
        size_t size;

        jwriter_init(&list);
        registry_write_owner(registry, owner, &list);
        registrations = jwriter_steal(&list, &size);
        digest = record_digest(key, registrations, size);

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "format", FORMAT);
        jwriter_member_string(&writer, "plugin", owner_get_plugin_id(owner));
        jwriter_member_string(&writer, "key", key);
        jwriter_member_string(&writer, "digest", digest);
        jwriter_key(&writer, "registrations");
        jwriter_raw(&writer, registrations, size);
        jwriter_end_object(&writer);
        text = jwriter_steal(&writer, &size);
        if (size > REGISTRATION_RECORD_BYTES_MAX)
                return -E2BIG;

        directory = codewhale_home_make(home, HOME_RECORDS);
        return directory < 0 ? directory : safe_replace_at(directory, name, text, size, 0600);
}

/* ---- reading ---- */

static char *explain(const char *what, const char *detail) {
        return g_strdup_printf("%s%s%s", what, detail ? ": " : "", detail ?: "");
}

static int record_parse(CodewhaleHome *home, const Plugin *plugin, Jdoc **ret, char **ret_reason) {
        const JdocLimits limits = {
                .bytes_max = REGISTRATION_RECORD_BYTES_MAX, .depth_max = JSON_FRAME_DEPTH_MAX, .nodes_max = REGISTRATION_RECORD_NODES_MAX,
        };
        _cleanup_close_ int directory = codewhale_home_open(home, HOME_RECORDS);
        g_autofree char *name = record_name(plugin), *text = NULL, *reason = NULL;
        g_autoptr(Jdoc) doc = NULL;
        JdocError error = {};
        size_t size;
        int r;

        r = directory < 0 ? directory : safe_read_at(directory, name, REGISTRATION_RECORD_BYTES_MAX, &text, &size);
        if (r < 0) {
                *ret_reason = r == -ENOENT ? g_strdup("it was not active before")
                                           : explain("the record can't be read", g_strerror(-r));
                return r;
        }
        r = jdoc_parse_copy(text, size, &limits, &doc, &error);
        if (r >= 0)
                r = shape_check(jdoc_root(doc), record_fields, &reason);
        if (r < 0) {
                *ret_reason = explain("the record is damaged", reason ?: error.message);
                return r;
        }
        *ret = g_steal_pointer(&doc);
        return 0;
}

/* Whether it is whole, and about what is asked for. */
static int record_check(Jval record, const Owner *owner, const char *config, char **ret_reason) {
        g_autofree char *key = record_key(owner, config), *digest = NULL;
        const char *registrations;
        uint64_t format = 0;
        size_t size;

        (void) jval_uint64(jval_member(record, "format"), &format);
        if (format != FORMAT || !jval_equals_text(jval_member(record, "plugin"), owner_get_plugin_id(owner)) ||
                        !jval_equals_text(jval_member(record, "key"), key)) {
                *ret_reason = g_strdup("its bytes, its trust, its settings or this service changed since the record was made");
                return -ESTALE;
        }
        registrations = jval_source(jval_member(record, "registrations"), &size);
        digest = record_digest(key, registrations, size);
        if (!jval_equals_text(jval_member(record, "digest"), digest) || !jval_is(jval_member(record, "registrations"), J_ARRAY)) {
                *ret_reason = g_strdup("the record is damaged: its digest is another one");
                return -EBADMSG;
        }
        return 0;
}

static int list_item(Registry *registry, Owner *owner, Jval item, char **ret_reason) {
        g_autofree char *reason = NULL;
        int r;

        r = wire_registration_check(item, &reason);
        if (r >= 0)
                r = registry_list(registry, owner, item, &reason);
        if (r < 0)
                *ret_reason = explain("what the record lists is refused", reason);
        return r;
}

int registration_record_list(CodewhaleHome *home, Registry *registry, Owner *owner, const char *config, char **ret_reason) {
        g_autoptr(Jdoc) doc = NULL;
        Jval item, key;
        int n = 0;
        JIter iter;

        if (record_parse(home, owner_get_plugin(owner), &doc, ret_reason) < 0 ||
                        record_check(jdoc_root(doc), owner, config, ret_reason) < 0)
                return 0;

        owner_list(owner);
        iter = jval_iterate(jval_member(jdoc_root(doc), "registrations"));
        for (; jiter_next(&iter, &key, &item); n++)
                if (list_item(registry, owner, item, ret_reason) < 0) {
                        owner_set_state(owner, OWNER_REVOKED, *ret_reason);
                        registry_withdraw(registry, owner, NULL);
                        return 0;
                }

        registry_announce(registry, owner);
        return n + 1;
}

/* ---- guards ---- */

static char *mark_name(const Plugin *plugin) {
        return g_strdup_printf("%s.guard", plugin_get_data_name(plugin));
}

static bool lists_listener(const Jdoc *record) {
        JIter iter = jval_iterate(jval_member(jdoc_root(record), "registrations"));
        Jval item, key;

        while (jiter_next(&iter, &key, &item))
                if (jval_equals_text(jval_member(item, "kind"), "hook"))
                        return true;
        return false;
}

bool registration_record_is_guard(CodewhaleHome *home, const Plugin *plugin) {
        _cleanup_close_ int directory = codewhale_home_open(home, HOME_RECORDS);
        g_autofree char *name = mark_name(plugin), *reason = NULL;
        g_autoptr(Jdoc) doc = NULL;

        if (directory < 0)
                return false;
        return faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
                        (record_parse(home, plugin, &doc, &reason) >= 0 && lists_listener(doc));
}

void registration_record_mark_guard(CodewhaleHome *home, const Plugin *plugin, bool guard) {
        _cleanup_close_ int directory = guard ? codewhale_home_make(home, HOME_RECORDS) : codewhale_home_open(home, HOME_RECORDS);
        g_autofree char *name = mark_name(plugin);

        if (directory >= 0 && guard)
                (void) safe_replace_at(directory, name, "", 0, 0600);
        else if (directory >= 0)
                (void) safe_unlink_at(directory, name);
}

void registration_record_forget(CodewhaleHome *home, const Plugin *plugin) {
        _cleanup_close_ int directory = codewhale_home_open(home, HOME_RECORDS);
        g_autofree char *name = record_name(plugin);

        if (directory >= 0)
                (void) safe_unlink_at(directory, name);
}
