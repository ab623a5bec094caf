/* SPDX-License-Identifier: MIT */

/* What a document keeps beside its nodes: copies of strings and the indexes of big objects. A document is
 * immutable to its users; the copies are a cache behind that and so are written through a const document. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/jdoc-scan.h"

#define BLOCK_BYTES 4080u

struct JdocBlock {
        JdocBlock *next;
        size_t used;
        size_t size;
        char bytes[];
};

Jdoc *jdoc_free(Jdoc *doc) {
        if (!doc)
                return NULL;

        for (JdocBlock *block = doc->blocks, *next; block; block = next) {
                next = block->next;
                g_free(block);
        }
        if (doc->strings)
                g_ptr_array_unref(doc->strings);
        if (doc->indexes)
                g_ptr_array_unref(doc->indexes);
        g_free(doc->text_owned);
        g_free(doc);
        return NULL;
}

static char *jdoc_room(Jdoc *doc, size_t size) {
        JdocBlock *block = doc->blocks;

        if (!block || block->size - block->used < size) {
                size_t room = MAX(size, doc->size < BLOCK_BYTES ? doc->size + 1u : BLOCK_BYTES);

                block = g_malloc(sizeof(JdocBlock) + room);
                *block = (JdocBlock){ .next = doc->blocks, .size = room };
                doc->blocks = block;
        }
        block->used += size;
        return block->bytes + block->used - size;
}

/* Copies the decoded bytes of a string, with their number before them and a NUL behind. */
static char *jdoc_copy(Jdoc *doc, const Jnode *node) {
        const char *source = doc->text + node->start + 1;
        uint32_t size = node->size - 2;
        char *room = jdoc_room(doc, sizeof(size) + size + 1), *bytes = room + sizeof(size);

        if (node->tag & JNODE_ESCAPED)
                size = (uint32_t) jscan_unescape(source, size, bytes);
        else
                memcpy(bytes, source, size);
        bytes[size] = '\0';
        memcpy(room, &size, sizeof(size));
        return bytes;
}

const char *jdoc_decode(const Jdoc *doc, const Jnode *node, size_t *ret_size) {
        Jdoc *cache = (Jdoc *) doc;
        const char *bytes;
        uint32_t size;

        if (node->word == 0) {
                if (!cache->strings)
                        cache->strings = g_ptr_array_new();
                g_ptr_array_add(cache->strings, jdoc_copy(cache, node));
                ((Jnode *) node)->word = cache->strings->len;
        }
        bytes = g_ptr_array_index(doc->strings, node->word - 1);
        memcpy(&size, bytes - sizeof(size), sizeof(size));
        *ret_size = size;
        return bytes;
}

static int compare_key(const Jdoc *doc, const Jnode *key, const char *bytes, size_t size, uint32_t hash) {
        const char *own;
        size_t own_size;

        if (jnode_hash(key) != hash)
                return jnode_hash(key) < hash ? -1 : 1;
        own = jnode_bytes(doc, key, &own_size);
        if (own_size != size)
                return own_size < size ? -1 : 1;
        return memcmp(own, bytes, size);
}

static int compare_places(const void *a, const void *b, void *userdata) {
        const Jdoc *doc = userdata;
        const Jnode *key = &doc->nodes[*(const uint32_t *) a], *other = &doc->nodes[*(const uint32_t *) b];
        const char *bytes;
        size_t size;
        int order;

        if (jnode_hash(key) != jnode_hash(other))
                return jnode_hash(key) < jnode_hash(other) ? -1 : 1;
        bytes = jnode_bytes(doc, other, &size);
        order = compare_key(doc, key, bytes, size, jnode_hash(other));
        if (order != 0)
                return order;
        return key < other ? -1 : key > other;
}

int jdoc_index(const Jdoc *doc, const Jnode *object, uint32_t count, JdocIndex **ret,
                const Jnode **ret_twice) {
        g_autofree JdocIndex *index = g_malloc(sizeof(JdocIndex) + count * sizeof(uint32_t));
        const Jnode *key = object + 1;

        index->count = count;
        for (uint32_t i = 0; i < count; i++, key = jnode_next(key + 1))
                index->keys[i] = (uint32_t) (key - doc->nodes);
        qsort_r(index->keys, count, sizeof(uint32_t), compare_places, (void *) doc);

        for (uint32_t i = 1; i < count; i++) {
                const Jnode *later = &doc->nodes[index->keys[i]];
                const char *bytes;
                size_t size;

                key = &doc->nodes[index->keys[i - 1]];
                if (jnode_hash(key) != jnode_hash(later))
                        continue;
                bytes = jnode_bytes(doc, later, &size);
                if (compare_key(doc, key, bytes, size, jnode_hash(later)) == 0) {
                        *ret_twice = later;
                        return -EBADMSG;
                }
        }

        *ret = g_steal_pointer(&index);
        return 0;
}

static const Jnode *index_find(
                const Jdoc *doc, const JdocIndex *index, const char *bytes, size_t size, uint32_t hash) {
        uint32_t low = 0, high = index->count;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const Jnode *key = &doc->nodes[index->keys[middle]];
                int order = compare_key(doc, key, bytes, size, hash);

                if (order == 0)
                        return key + 1;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

const Jnode *jdoc_find(const Jdoc *doc, const Jnode *object, const char *bytes, size_t size, uint32_t hash) {
        const Jnode *key = object + 1;

        if (object->tag & JNODE_INDEXED)
                return index_find(doc, g_ptr_array_index(doc->indexes, object->word), bytes, size, hash);

        for (uint32_t left = object->word; left > 0; left--, key = jnode_next(key + 1))
                if (jnode_hash(key) == hash && compare_key(doc, key, bytes, size, hash) == 0)
                        return key + 1;
        return NULL;
}

const char *jval_string(Jval value, size_t *ret_size) {
        size_t size;

        return jval_type(value) == J_STRING ? jdoc_decode(value.doc, value.node, ret_size ?: &size) : NULL;
}
