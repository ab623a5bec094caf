/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/jdoc-scan.h"
#include "common/limits.h"

#define NO_NODE UINT32_MAX

/* Objects with more members than this are indexed: for finding equal keys now and members later. */
#define KEYS_PLAIN_MAX 32u

/* Room for so many values is made at once; beyond that it grows. */
#define NODES_FIRST 16384u

/* One document being read. While a container is open, its tag keeps the place of its parent instead of its
 * extent, so that neither recursion nor a stack is needed. */
typedef struct Reader {
        const char *text;
        const char *end;
        Jdoc *doc;
        size_t capacity;
        size_t nodes_max;
        size_t nodes_likely; /* at most, for this size of text */
        uint32_t open;
        unsigned depth;
        unsigned depth_max;
        bool too_big;
        JScanError error;
} Reader;

static const char *reader_fail(Reader *reader, const char *message, const char *at) {
        reader->error = (JScanError){ message, at };
        return NULL;
}

static const char *reader_refuse(Reader *reader, const char *message, const char *at) {
        reader->too_big = true;
        return reader_fail(reader, message, at);
}

static bool reader_grow(Reader *reader) {
        size_t capacity = 2 * reader->capacity + 16;

        /* Only text that turns out to be no JSON can have more. */
        if (reader->capacity < reader->nodes_likely)
                capacity = MIN(capacity, reader->nodes_likely);
        capacity = MIN(capacity, reader->nodes_max);
        if (capacity <= reader->capacity)
                return false;
        reader->capacity = capacity;
        reader->doc = g_realloc(reader->doc, sizeof(Jdoc) + capacity * sizeof(Jnode));
        return true;
}

/* A new node whose source begins at @at; NULL when there are too many. */
static inline Jnode *reader_node(Reader *reader, const char *at, JType type) {
        Jnode *node;

        if (G_UNLIKELY(reader->doc->used == reader->capacity) && !reader_grow(reader)) {
                (void) reader_refuse(reader, "too many values", at);
                return NULL;
        }
        node = &reader->doc->nodes[reader->doc->used++];
        *node = (Jnode){ .start = (uint32_t) (at - reader->text), .tag = type };
        return node;
}

static inline __attribute__((always_inline)) const char *read_string(Reader *reader, const char *at, bool is_key) {
        Jnode *node = reader_node(reader, at, J_STRING);
        const char *next;
        bool escaped;

        if (!node)
                return NULL;
        next = jscan_string(at + 1, reader->end, &escaped, &reader->error);
        if (!next)
                return NULL;

        node->size = (uint32_t) (next - at);
        if (escaped)
                node->tag |= JNODE_ESCAPED;
        if (is_key) {
                size_t size;
                const char *bytes = jnode_bytes(reader->doc, node, &size);

                node->tag |= jkey_hash(bytes, size) << JNODE_HASH_BITS;
        }
        return next;
}

/* A key and its colon; @at may be white space. */
static inline const char *read_key(Reader *reader, const char *at) {
        at = jscan_space(at, reader->end);
        if (at == reader->end || *at != '"')
                return reader_fail(reader, "a member name is expected", at);
        at = read_string(reader, at, true);
        if (!at)
                return NULL;
        at = jscan_space(at, reader->end);
        if (at == reader->end || *at != ':')
                return reader_fail(reader, "':' is expected", at);
        return at + 1;
}

static const char *read_word(Reader *reader, const char *at, const char *word, size_t size, JType type) {
        Jnode *node;

        if ((size_t) (reader->end - at) < size || memcmp(at, word, size) != 0)
                return reader_fail(reader, "a value is expected", at);
        node = reader_node(reader, at, type);
        if (!node)
                return NULL;
        node->size = (uint32_t) size;
        node->word = *word == 't';
        return at + size;
}

static inline const char *read_number(Reader *reader, const char *at) {
        Jnode *node = reader_node(reader, at, J_NUMBER);
        const char *next;

        if (!node)
                return NULL;
        next = jscan_number(at, reader->end, node, &reader->error);
        if (next)
                node->size = (uint32_t) (next - at);
        return next;
}

static inline const char *read_scalar(Reader *reader, const char *at) {
        switch (*at) {
        case '"':
                return read_string(reader, at, false);
        case 't':
                return read_word(reader, at, "true", 4, J_BOOLEAN);
        case 'f':
                return read_word(reader, at, "false", 5, J_BOOLEAN);
        case 'n':
                return read_word(reader, at, "null", 4, J_NULL);
        default:
                return read_number(reader, at);
        }
}

static const Jnode *find_twice(const Jdoc *doc, const Jnode *object, uint32_t count) {
        const Jnode *keys[KEYS_PLAIN_MAX], *key = object + 1;
        uint32_t hashes[KEYS_PLAIN_MAX];

        for (uint32_t i = 0; i < count; i++, key = jnode_next(key + 1)) {
                keys[i] = key;
                hashes[i] = jnode_hash(key);
                for (uint32_t j = 0; j < i; j++) {
                        const char *a, *b;
                        size_t a_size, b_size;

                        if (G_LIKELY(hashes[j] != hashes[i]))
                                continue;
                        a = jnode_bytes(doc, keys[j], &a_size);
                        b = jnode_bytes(doc, key, &b_size);
                        if (a_size == b_size && jbytes_equal(a, b, a_size))
                                return key;
                }
        }
        return NULL;
}

/* Refuses equal keys; gives a big object its index. */
static bool check_keys(Reader *reader, Jnode *object) {
        const Jnode *twice = NULL;
        JdocIndex *index;

        if (object->word <= KEYS_PLAIN_MAX)
                twice = find_twice(reader->doc, object, object->word);
        else if (jdoc_index(reader->doc, object, object->word, &index, &twice) >= 0) {
                if (!reader->doc->indexes)
                        reader->doc->indexes = g_ptr_array_new_with_free_func(g_free);
                object->word = reader->doc->indexes->len;
                object->tag |= JNODE_INDEXED;
                g_ptr_array_add(reader->doc->indexes, index);
        }
        if (!twice)
                return true;

        (void) reader_fail(reader, "a member name occurs twice", reader->text + twice->start);
        return false;
}

/* @at is the bracket that closes the innermost container. */
static inline const char *reader_close(Reader *reader, const char *at) {
        Jnode *node = &reader->doc->nodes[reader->open];
        uint32_t parent = node->tag >> JNODE_SKIP_BITS;
        JType type = jnode_type(node);

        node->size = (uint32_t) (at + 1 - reader->text) - node->start;
        node->tag = type | (reader->doc->used - reader->open) << JNODE_SKIP_BITS;
        if (type == J_OBJECT && node->word > 1 && !check_keys(reader, node))
                return NULL;

        reader->open = parent == JNODE_NODES_MAX ? NO_NODE : parent;
        reader->depth--;
        return at + 1;
}

/* Begins a container. Returns where its first value is expected, or behind it when it is empty. */
static inline const char *reader_open(Reader *reader, const char *at, JType type, bool *ret_empty) {
        char close = type == J_OBJECT ? '}' : ']';
        Jnode *node;

        if (++reader->depth > reader->depth_max)
                return reader_refuse(reader, "nested too deeply", at);
        node = reader_node(reader, at, type);
        if (!node)
                return NULL;
        node->tag |= (reader->open == NO_NODE ? JNODE_NODES_MAX : reader->open) << JNODE_SKIP_BITS;
        reader->open = (uint32_t) (node - reader->doc->nodes);

        at = jscan_space(at + 1, reader->end);
        *ret_empty = at < reader->end && *at == close;
        if (*ret_empty)
                return reader_close(reader, at);
        node->word = 1;
        return type == J_OBJECT ? read_key(reader, at) : at;
}

/* What follows a value inside a container: closing brackets, then a comma. Returns where the next value is
 * expected, or the end of the text after the root. */
static inline const char *reader_continue(Reader *reader, const char *at) {
        while (reader->open != NO_NODE) {
                Jnode *node = &reader->doc->nodes[reader->open];
                bool object = jnode_type(node) == J_OBJECT;

                at = jscan_space(at, reader->end);
                if (G_UNLIKELY(at == reader->end))
                        return reader_fail(reader,
                                        object ? "the object does not end" : "the array does not end", at);
                if (*at == ',') {
                        node->word++;
                        return object ? read_key(reader, at + 1) : at + 1;
                }
                if (*at != (object ? '}' : ']'))
                        return reader_fail(reader,
                                        object ? "',' or '}' is expected" : "',' or ']' is expected", at);
                at = reader_close(reader, at);
                if (!at)
                        return NULL;
        }
        return at;
}

static const char *reader_run(Reader *reader) {
        const char *at = reader->text;

        do {
                bool ended = true;

                at = jscan_space(at, reader->end);
                if (G_UNLIKELY(at == reader->end))
                        return reader_fail(reader, "a value is expected", at);

                if (*at == '{')
                        at = reader_open(reader, at, J_OBJECT, &ended);
                else if (*at == '[')
                        at = reader_open(reader, at, J_ARRAY, &ended);
                else
                        at = read_scalar(reader, at);
                if (at && ended)
                        at = reader_continue(reader, at);
                if (G_UNLIKELY(!at))
                        return NULL;
        } while (reader->open != NO_NODE);

        at = jscan_space(at, reader->end);
        return at == reader->end ? at : reader_fail(reader, "text after the value", at);
}

static void locate(const Reader *reader, JdocError *reterr) {
        const char *line = reader->text, *next;

        if (!reterr)
                return;
        *reterr = (JdocError){ .message = reader->error.message,
                .byte = (size_t) (reader->error.at - reader->text),
                .line = 1 };
        while ((next = memchr(line, '\n', (size_t) (reader->error.at - line)))) {
                line = next + 1;
                reterr->line++;
        }
        reterr->column = (size_t) (reader->error.at - line) + 1;
}

static int refuse_size(JdocError *reterr) {
        if (reterr)
                *reterr = (JdocError){ .message = "the text is too large", .line = 1, .column = 1 };
        return -E2BIG;
}

int jdoc_parse(const char *text, size_t size, const JdocLimits *limits, Jdoc **ret, JdocError *reterr) {
        static const JdocLimits ordinary = {
                .bytes_max = UINT32_MAX, .depth_max = JSON_DEPTH_MAX, .nodes_max = JSON_NODES_MAX
        };
        Reader reader = { .text = text ?: "", .open = NO_NODE };

        assert(text || size == 0);
        assert(ret);

        limits = limits ?: &ordinary;
        if (size > limits->bytes_max || size > UINT32_MAX)
                return refuse_size(reterr);

        reader.end = reader.text + size;
        reader.depth_max = limits->depth_max;
        reader.nodes_max = MIN(limits->nodes_max, JNODE_NODES_MAX - 1);
        reader.nodes_likely = size / 2 + 2;
        reader.capacity = MIN(MIN(size / 6 + 8, NODES_FIRST), MIN(reader.nodes_likely, reader.nodes_max));
        reader.doc = g_malloc(sizeof(Jdoc) + reader.capacity * sizeof(Jnode));
        *reader.doc = (Jdoc){ .text = reader.text, .size = (uint32_t) size };

        if (!reader_run(&reader)) {
                locate(&reader, reterr);
                jdoc_free(reader.doc);
                return reader.too_big ? -E2BIG : -EBADMSG;
        }

        /* Give back what was guessed far too much. Less is kept: blocks that come and go at one size make
         * malloc() serve them from its heap, and page faults cost more than reading. */
        if (reader.capacity > 1024 && reader.doc->used < reader.capacity / 8)
                reader.doc = g_realloc(reader.doc, sizeof(Jdoc) + reader.doc->used * sizeof(Jnode));
        *ret = reader.doc;
        return 0;
}

int jdoc_parse_copy(const char *text, size_t size, const JdocLimits *limits, Jdoc **ret, JdocError *reterr) {
        g_autofree char *copy = NULL;
        int r;

        if ((limits && size > limits->bytes_max) || size > UINT32_MAX)
                return refuse_size(reterr);

        copy = g_memdup2(text, size);
        r = jdoc_parse(copy, size, limits, ret, reterr);
        if (r < 0)
                return r;
        (*ret)->text_owned = g_steal_pointer(&copy);
        return 0;
}

Jval jdoc_root(const Jdoc *doc) {
        return (Jval){ doc, doc->nodes };
}
