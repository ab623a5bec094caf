/* SPDX-License-Identifier: MIT */
#pragma once

/* How a document lies in memory. For the reader itself and for code that walks documents in its innermost
 * loop (schema/); everybody else uses the functions of common/jdoc.h.
 *
 * Nodes stand in document order, an object's as key, value, key, value. Sixteen bytes each, so that the tree
 * of the densest text ("[1,1,1]") is eight times its size. */

#include <string.h>

#include "common/jdoc.h"

struct Jnode {
        uint32_t start; /* of the source text */
        uint32_t size;  /* of the source text */
        uint32_t word; /* container: members or elements; string: 1 + place of its copy, 0 when there is none
                        * yet; boolean: the value; small number: the value */
        uint32_t tag;  /* JType, one flag, and see below */
};

#define JNODE_TYPE_MASK 7u
#define JNODE_FLAG      8u
#define JNODE_SKIP_BITS 4 /* container: nodes up to its next sibling, from this bit on */
#define JNODE_NODES_MAX ((UINT32_C(1) << (32 - JNODE_SKIP_BITS)) - 1)

/* What JNODE_FLAG means */
#define JNODE_ESCAPED JNODE_FLAG /* string: the source holds escapes */
#define JNODE_REAL    JNODE_FLAG /* number: written with a point or an exponent */
#define JNODE_INDEXED JNODE_FLAG /* object: word is the place of its index */

#define JNODE_SMALL 16u /* number: an integer of at most nine digits, in word */

#define JNODE_HASH_BITS 8 /* key: hash of the decoded bytes, from this bit on */

/* The keys of one big object, sorted by hash, size and bytes. */
typedef struct JdocIndex {
        uint32_t count;
        uint32_t keys[];
} JdocIndex;

typedef struct JdocBlock JdocBlock;

struct Jdoc {
        const char *text;
        char *text_owned;
        GPtrArray *strings; /* char: decoded or NUL-ended copies, made when first asked for; before each its size */
        JdocBlock *blocks;  /* what those copies lie in */
        GPtrArray *indexes; /* JdocIndex: of the objects with many members */
        uint32_t size;
        uint32_t used;
        Jnode nodes[];
};

static inline JType jnode_type(const Jnode *node) {
        return (JType) (node->tag & JNODE_TYPE_MASK);
}

static inline const Jnode *jnode_next(const Jnode *node) {
        return jnode_type(node) >= J_ARRAY ? node + (node->tag >> JNODE_SKIP_BITS) : node + 1;
}

static inline uint32_t jnode_count(const Jdoc *doc, const Jnode *node) {
        if (jnode_type(node) == J_OBJECT && (node->tag & JNODE_INDEXED))
                return ((const JdocIndex *) g_ptr_array_index(doc->indexes, node->word))->count;
        return node->word;
}

/* The hash of a key, as compiled tables of keys use it too. Cheap and not keyed: whoever looks up must stay
 * bounded when a stranger makes all hashes equal. */
static inline uint32_t jkey_hash(const char *bytes, size_t size) {
        uint64_t first = 0, last = 0, mixed;

        if (size >= 8) {
                memcpy(&first, bytes, 8);
                memcpy(&last, bytes + size - 8, 8);
        } else if (size >= 4) {
                uint32_t low, high;

                memcpy(&low, bytes, 4);
                memcpy(&high, bytes + size - 4, 4);
                first = low;
                last = high;
        } else if (size > 0)
                first = (uint64_t) (unsigned char) bytes[0] |
                        (uint64_t) (unsigned char) bytes[size / 2] << 8 |
                        (uint64_t) (unsigned char) bytes[size - 1] << 16;

        mixed = (first ^ (last << 29 | last >> 35) ^ size * UINT64_C(0x9e3779b97f4a7c15)) *
                UINT64_C(0xd6e8feb86659fd93);
        return (uint32_t) (mixed >> 40);
}

/* Like memcmp() == 0, without a call for the short texts that names mostly are. */
static inline bool jbytes_equal(const char *a, const char *b, size_t size) {
        if (size >= 8 && size <= 16) {
                uint64_t a_first, a_last, b_first, b_last;

                memcpy(&a_first, a, 8);
                memcpy(&b_first, b, 8);
                memcpy(&a_last, a + size - 8, 8);
                memcpy(&b_last, b + size - 8, 8);
                return ((a_first ^ b_first) | (a_last ^ b_last)) == 0;
        }
        if (size >= 4 && size < 8) {
                uint32_t a_first, a_last, b_first, b_last;

                memcpy(&a_first, a, 4);
                memcpy(&b_first, b, 4);
                memcpy(&a_last, a + size - 4, 4);
                memcpy(&b_last, b + size - 4, 4);
                return ((a_first ^ b_first) | (a_last ^ b_last)) == 0;
        }
        if (size < 4)
                return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
        return memcmp(a, b, size) == 0;
}

static inline uint32_t jnode_hash(const Jnode *key) {
        return key->tag >> JNODE_HASH_BITS;
}

/** jdoc_decode() - the copy of a string's decoded bytes, ended by NUL; made when first asked for */
const char *jdoc_decode(const Jdoc *doc, const Jnode *node, size_t *ret_size);

/** jnode_bytes() - the decoded bytes of a string, not ended by NUL */
static inline const char *jnode_bytes(const Jdoc *doc, const Jnode *node, size_t *ret_size) {
        if (node->tag & JNODE_ESCAPED)
                return jdoc_decode(doc, node, ret_size);
        *ret_size = node->size - 2;
        return doc->text + node->start + 1;
}

/** jdoc_index() - sorts the keys of @object into an index; -EBADMSG and the later key when two are equal */
int jdoc_index(const Jdoc *doc, const Jnode *object, uint32_t count, JdocIndex **ret,
                const Jnode **ret_twice);

/** jdoc_find() - the value of member @bytes of an object node, or NULL */
const Jnode *jdoc_find(const Jdoc *doc, const Jnode *object, const char *bytes, size_t size, uint32_t hash);
