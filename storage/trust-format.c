/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sha256.h"
#include "storage/trust-format.h"
#include "storage/trust-state.h"

#define SCHEMA_VERSION       1
#define PLUGIN_ID_BYTES_MAX  256
#define CAPABILITIES_MAX     64

static void record_free(void *data) {
        trust_record_free(data);
}

GHashTable *trust_format_new_records(void) {
        return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, record_free);
}

static bool has_keys(Jval object, const char *const *keys) {
        JIter iter = jval_iterate(object);
        Jval key, item;

        if (!jval_is(object, J_OBJECT))
                return false;
        while (jiter_next(&iter, &key, &item)) {
                const char *name = jval_text(key);

                if (!name || !g_strv_contains(keys, name))
                        return false;
        }
        return true;
}

static const char *read_hash(Jval object, const char *key) {
        const char *hash = jval_text(jval_member(object, key));

        return hash && strlen(hash) == SHA256_HEX_CHARS && strspn(hash, "0123456789abcdef") == SHA256_HEX_CHARS ? hash
                                                                                                          : NULL;
}

static char **read_capabilities(Jval array) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        JIter iter = jval_iterate(array);
        Jval key, item;

        if (!jval_is(array, J_ARRAY) || jval_length(array) > CAPABILITIES_MAX)
                return NULL;
        while (jiter_next(&iter, &key, &item)) {
                if (!jval_text(item))
                        return NULL;
                g_strv_builder_add(builder, jval_text(item));
        }
        return g_strv_builder_end(builder);
}

static bool read_erased(Jval array, TrustReceipt *receipt) {
        static const char *const keys[] = { "path", "erased_path", "erased_sha256", NULL };
        JIter iter = jval_iterate(array);
        Jval key, item;

        if (jval_is(array, J_ABSENT))
                return true;
        if (!jval_is(array, J_ARRAY) || jval_length(array) > BUNDLE_FILES_MAX)
                return false;
        while (jiter_next(&iter, &key, &item)) {
                const char *path = jval_text(jval_member(item, "path"));
                const char *erased_path = jval_text(jval_member(item, "erased_path"));
                const char *hash = read_hash(item, "erased_sha256");

                if (!has_keys(item, keys) || !path || !erased_path || !hash)
                        return false;
                trust_receipt_add_erased(receipt, path, erased_path, hash);
        }
        return true;
}

static TrustReceipt *read_receipt(Jval value) {
        static const char *const keys[] = { "content_hash", "capability_hash", "reviewed_capabilities", "reviewed_at",
                "confirmed_by", "erased", NULL };
        g_autoptr(TrustReceipt) receipt = NULL;
        g_auto(GStrv) capabilities = NULL;
        const char *content = read_hash(value, "content_hash"), *capability = read_hash(value, "capability_hash");
        const char *confirmed_by = jval_text(jval_member(value, "confirmed_by"));
        int64_t reviewed_at = 0;

        capabilities = read_capabilities(jval_member(value, "reviewed_capabilities"));
        if (!has_keys(value, keys) || !content || !capability || !capabilities || !confirmed_by ||
                        jval_int64(jval_member(value, "reviewed_at"), &reviewed_at) < 0)
                return NULL;

        receipt = trust_receipt_new(
                        content, capability, (const char *const *) capabilities, reviewed_at, confirmed_by);
        return read_erased(jval_member(value, "erased"), receipt) ? g_steal_pointer(&receipt) : NULL;
}

static bool read_history(Jval array, TrustRecord *record) {
        JIter iter = jval_iterate(array);
        Jval key, item;

        if (!jval_is(array, J_ARRAY) || jval_length(array) > RECEIPTS_MAX)
                return false;
        while (jiter_next(&iter, &key, &item)) {
                TrustReceipt *receipt = read_receipt(item);

                if (!receipt)
                        return false;
                g_ptr_array_add(record->history, receipt);
        }
        return true;
}

static TrustRecord *read_record(Jval value) {
        static const char *const keys[] = { "generation", "enabled", "trust", "review_history", NULL };
        g_autoptr(TrustRecord) record = trust_record_new();
        Jval trust = jval_member(value, "trust");

        if (!has_keys(value, keys) || jval_uint64(jval_member(value, "generation"), &record->generation) < 0 ||
                        record->generation == 0 || jval_boolean(jval_member(value, "enabled"), &record->enabled) < 0)
                return NULL;

        if (!jval_is(trust, J_NULL)) {
                record->trust = read_receipt(trust);
                if (!record->trust)
                        return NULL;
        }
        return read_history(jval_member(value, "review_history"), record) ? g_steal_pointer(&record) : NULL;
}

static const char *read_root(Jval root, GHashTable *records) {
        static const char *const keys[] = { "schema_version", "plugins", NULL };
        Jval plugins = jval_member(root, "plugins");
        JIter iter = jval_iterate(plugins);
        int64_t version = 0;
        Jval key, item;

        if (!has_keys(root, keys))
                return "it is not an object with schema_version and plugins";
        if (jval_int64(jval_member(root, "schema_version"), &version) < 0 || version != SCHEMA_VERSION)
                return "its schema_version is not 1";
        if (!jval_is(plugins, J_OBJECT))
                return "plugins is not an object";
        while (jiter_next(&iter, &key, &item)) {
                const char *id = jval_text(key);
                TrustRecord *record;

                if (!id || *id == '\0' || strlen(id) > PLUGIN_ID_BYTES_MAX)
                        return "a plugin id is not usable";
                record = read_record(item);
                if (!record)
                        return "the record of a plugin is malformed";
                g_hash_table_insert(records, g_strdup(id), record);
        }
        return NULL;
}

int trust_format_read(const char *text, size_t size, GHashTable **ret_records, char **ret_reason) {
        static const JdocLimits limits = {
                .bytes_max = STATE_FILE_BYTES_MAX,
                .depth_max = 16,
                .nodes_max = JSON_NODES_MAX,
        };
        g_autoptr(GHashTable) records = trust_format_new_records();
        g_autoptr(Jdoc) doc = NULL;
        JdocError error = {};
        const char *reason;

        if (jdoc_parse(text, size, &limits, &doc, &error) < 0) {
                *ret_reason = g_strdup_printf("line %zu, column %zu: %s", error.line, error.column, error.message);
                return -EBADMSG;
        }
        reason = read_root(jdoc_root(doc), records);
        if (reason) {
                *ret_reason = g_strdup(reason);
                return -EBADMSG;
        }

        *ret_records = g_steal_pointer(&records);
        return 0;
}

static void write_receipt(JWriter *writer, const TrustReceipt *receipt) {
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "content_hash", receipt->content_hash);
        jwriter_member_string(writer, "capability_hash", receipt->capability_hash);
        jwriter_key(writer, "reviewed_capabilities");
        jwriter_begin_array(writer);
        for (char **name = receipt->capabilities; *name; name++)
                jwriter_string(writer, *name);
        jwriter_end_array(writer);
        jwriter_member_int(writer, "reviewed_at", receipt->reviewed_at);
        jwriter_member_string(writer, "confirmed_by", receipt->confirmed_by);
        if (receipt->erased->len > 0) {
                jwriter_key(writer, "erased");
                jwriter_begin_array(writer);
                for (size_t i = 0; i < receipt->erased->len; i++) {
                        const TrustErased *erased = g_ptr_array_index(receipt->erased, i);

                        jwriter_begin_object(writer);
                        jwriter_member_string(writer, "path", erased->path);
                        jwriter_member_string(writer, "erased_path", erased->erased_path);
                        jwriter_member_string(writer, "erased_sha256", erased->erased_sha256);
                        jwriter_end_object(writer);
                }
                jwriter_end_array(writer);
        }
        jwriter_end_object(writer);
}

static void write_record(JWriter *writer, const TrustRecord *record) {
        jwriter_begin_object(writer);
        jwriter_member_uint(writer, "generation", record->generation);
        jwriter_member_boolean(writer, "enabled", record->enabled);
        jwriter_key(writer, "trust");
        if (record->trust)
                write_receipt(writer, record->trust);
        else
                jwriter_null(writer);
        jwriter_key(writer, "review_history");
        jwriter_begin_array(writer);
        for (size_t i = 0; i < record->history->len; i++)
                write_receipt(writer, g_ptr_array_index(record->history, i));
        jwriter_end_array(writer);
        jwriter_end_object(writer);
}

static int compare_ids(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

char *trust_format_write(GHashTable *records, size_t *ret_size) {
        guint count = 0;
        g_autofree char **ids = (char **) g_hash_table_get_keys_as_array(records, &count);
        g_auto(JWriter) writer = {};

        qsort(ids, count, sizeof *ids, compare_ids);
        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_int(&writer, "schema_version", SCHEMA_VERSION);
        jwriter_key(&writer, "plugins");
        jwriter_begin_object(&writer);
        for (guint i = 0; i < count; i++) {
                jwriter_key(&writer, ids[i]);
                write_record(&writer, g_hash_table_lookup(records, ids[i]));
        }
        jwriter_end_object(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}
