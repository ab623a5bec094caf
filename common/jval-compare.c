/* SPDX-License-Identifier: MIT */

/* Values as values: deep equality, hash and canonical text. Open containers are kept in a list of frames,
 * not on the stack of the program. */

#include <stdlib.h>

#include "common/jdoc-node.h"
#include "common/jnumber.h"
#include "common/jval-compare.h"

static void node_number(const Jdoc *doc, const Jnode *node, JNumber *ret) {
        jnumber_parse(doc->text + node->start, node->size, ret);
}

int jval_compare_numbers(Jval a, Jval b) {
        JNumber left, right;

        if (a.node->tag & b.node->tag & JNODE_SMALL) {
                int32_t x = (int32_t) a.node->word, y = (int32_t) b.node->word;

                return x < y ? -1 : x > y;
        }
        node_number(a.doc, a.node, &left);
        node_number(b.doc, b.node, &right);
        return jnumber_compare(&left, &right);
}

static bool strings_equal(const Jdoc *a_doc, const Jnode *a, const Jdoc *b_doc, const Jnode *b) {
        size_t a_size, b_size;
        const char *a_bytes = jnode_bytes(a_doc, a, &a_size), *b_bytes = jnode_bytes(b_doc, b, &b_size);

        return a_size == b_size && jbytes_equal(a_bytes, b_bytes, a_size);
}

/* Two containers that are being compared. */
typedef struct Pair {
        JIter iter; /* what is left to compare of the one */
        const Jdoc *other_doc;
        const Jnode *other; /* object: the object itself; array: the next element */
} Pair;

#define PAIRS_INLINE 8u

/* The containers in which we are; memory is asked for only when they are many. */
typedef struct Pairs {
        Pair *at;
        size_t n, room;
        Pair own[PAIRS_INLINE];
} Pairs;

static void pairs_push(Pairs *pairs, Pair pair) {
        if (pairs->n == pairs->room) {
                Pair *more = g_new(Pair, 2 * pairs->room);

                memcpy(more, pairs->at, pairs->n * sizeof(Pair));
                if (pairs->at != pairs->own)
                        g_free(pairs->at);
                pairs->at = more;
                pairs->room *= 2;
        }
        pairs->at[pairs->n++] = pair;
}

/* Whether two values are equal as far as that shows without looking inside; opens a frame for containers. */
static bool pairs_begin(Pairs *pairs, Jval a, Jval b) {
        JType type = jnode_type(a.node);

        if (type != jnode_type(b.node))
                return false;

        switch (type) {
        case J_BOOLEAN:
                return a.node->word == b.node->word;
        case J_NUMBER:
                return jval_compare_numbers(a, b) == 0;
        case J_STRING:
                return strings_equal(a.doc, a.node, b.doc, b.node);
        case J_ARRAY:
        case J_OBJECT:
                if (jnode_count(a.doc, a.node) != jnode_count(b.doc, b.node))
                        return false;
                if (jnode_count(a.doc, a.node) > 0)
                        pairs_push(pairs, (Pair) { jval_iterate(a), b.doc, type == J_OBJECT ? b.node : b.node + 1 });
                return true;
        default:
                return true;
        }
}

static bool pairs_step(Pairs *pairs) {
        Pair *pair = &pairs->at[pairs->n - 1];
        const Jdoc *other_doc = pair->other_doc;
        const Jnode *other;
        Jval key, value;

        if (!jiter_next(&pair->iter, &key, &value)) {
                pairs->n--;
                return true;
        }
        if (pair->iter.object) {
                size_t size;
                const char *bytes = jnode_bytes(key.doc, key.node, &size);

                other = jdoc_find(other_doc, pair->other, bytes, size, jnode_hash(key.node));
                if (!other)
                        return false;
        } else {
                other = pair->other;
                pair->other = jnode_next(other);
        }
        return pairs_begin(pairs, value, (Jval) { other_doc, other });
}

bool jval_equal(Jval a, Jval b) {
        Pairs pairs;
        bool equal;

        if (!a.node || !b.node)
                return a.node == b.node;
        if (a.node->size == b.node->size &&
                        jbytes_equal(a.doc->text + a.node->start, b.doc->text + b.node->start, a.node->size))
                return true;

        pairs.at = pairs.own;
        pairs.n = 0;
        pairs.room = PAIRS_INLINE;
        equal = pairs_begin(&pairs, a, b);
        while (equal && pairs.n > 0)
                equal = pairs_step(&pairs);
        if (pairs.at != pairs.own)
                g_free(pairs.at);
        return equal;
}

static uint64_t mix(uint64_t hash, uint64_t more) {
        hash = (hash ^ more) * UINT64_C(0x9fb21c651e98df25);
        return hash ^ hash >> 32;
}

static uint64_t hash_bytes(const char *bytes, size_t size) {
        uint64_t hash = size, word;

        for (; size >= 8; bytes += 8, size -= 8) {
                memcpy(&word, bytes, 8);
                hash = mix(hash, word);
        }
        word = 0;
        memcpy(&word, bytes, size);
        return mix(hash, word);
}

static uint64_t hash_number(const Jdoc *doc, const Jnode *node) {
        JNumber number;
        uint64_t hash;
        const char *digit;

        node_number(doc, node, &number);
        hash = mix((uint64_t) number.point, number.negative);
        digit = number.digits;
        for (size_t i = 0; i < number.count; i++) {
                hash = mix(hash, (unsigned char) *digit);
                if (i + 1 < number.count)
                        digit = jnumber_next(digit);
        }
        return hash;
}

static uint64_t hash_node(const Jdoc *doc, const Jnode *node) {
        const char *bytes;
        size_t size;

        switch (jnode_type(node)) {
        case J_STRING:
                bytes = jnode_bytes(doc, node, &size);
                return hash_bytes(bytes, size);
        case J_NUMBER:
                return hash_number(doc, node);
        case J_BOOLEAN:
                return node->word + 17;
        default:
                return mix(jnode_type(node), jnode_count(doc, node));
        }
}

/* What the nodes give is added up, so that the order of members does not matter; a value counts together
 * with its key. Up to the first object the order of nodes is the same for equal values, and so their place
 * counts too. */
uint64_t jval_hash(Jval value) {
        const Jnode *node = value.node, *end;
        uint64_t sum = 0, place = 0;
        uint32_t key = 0;
        bool ordered = true;

        if (!node)
                return 0;

        for (end = jnode_next(node); node < end; node++) {
                uint64_t hash = mix(hash_node(value.doc, node), key);

                if (jnode_type(node) == J_OBJECT)
                        ordered = false;
                key = jnode_type(node) == J_STRING ? jnode_hash(node) : 0;
                sum += mix(hash, ordered ? ++place : 0);
        }
        return mix(sum, 3);
}
