/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/jdoc-node.h"
#include "common/jnumber.h"

static const Jval absent = {};

JType jval_type(Jval value) {
        return value.node ? jnode_type(value.node) : J_ABSENT;
}

const char *jtype_to_string(JType type) {
        static const char *const names[_J_TYPE_MAX] = {
                [J_ABSENT] = "absent",
                [J_NULL] = "null",
                [J_BOOLEAN] = "boolean",
                [J_NUMBER] = "number",
                [J_STRING] = "string",
                [J_ARRAY] = "array",
                [J_OBJECT] = "object",
        };

        return type >= 0 && type < _J_TYPE_MAX ? names[type] : NULL;
}

size_t jval_length(Jval value) {
        size_t size;

        switch (jval_type(value)) {
        case J_ARRAY:
        case J_OBJECT:
                return jnode_count(value.doc, value.node);
        case J_STRING:
                (void) jnode_bytes(value.doc, value.node, &size);
                return size;
        default:
                return 0;
        }
}

Jval jval_member_n(Jval object, const char *key, size_t key_size) {
        if (jval_type(object) != J_OBJECT)
                return absent;
        return (Jval){ object.doc,
                jdoc_find(object.doc, object.node, key, key_size, jkey_hash(key, key_size)) };
}

Jval jval_member(Jval object, const char *key) {
        return jval_member_n(object, key, strlen(key));
}

Jval jval_element(Jval array, size_t index) {
        const Jnode *node;

        if (jval_type(array) != J_ARRAY || index >= array.node->word)
                return absent;
        node = array.node + 1;
        while (index-- > 0)
                node = jnode_next(node);
        return (Jval){ array.doc, node };
}

JIter jval_iterate(Jval value) {
        JType type = jval_type(value);

        if (type != J_ARRAY && type != J_OBJECT)
                return (JIter){};
        return (JIter){ value.doc, value.node + 1, jnode_count(value.doc, value.node), type == J_OBJECT };
}

bool jiter_next(JIter *iter, Jval *ret_key, Jval *ret_value) {
        const Jnode *node = iter->next;

        if (iter->left == 0)
                return false;

        if (ret_key)
                *ret_key = iter->object ? (Jval){ iter->doc, node } : absent;
        if (iter->object)
                node++;
        if (ret_value)
                *ret_value = (Jval){ iter->doc, node };
        iter->next = jnode_next(node);
        iter->left--;
        return true;
}

const char *jval_text(Jval value) {
        size_t size;
        const char *text = jval_string(value, &size);

        return text && strlen(text) == size ? text : NULL;
}

bool jval_equals_text(Jval value, const char *text) {
        size_t size;
        const char *bytes;

        if (jval_type(value) != J_STRING)
                return false;
        bytes = jnode_bytes(value.doc, value.node, &size);
        return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

int jval_boolean(Jval value, bool *ret) {
        if (jval_type(value) != J_BOOLEAN)
                return -EINVAL;
        *ret = value.node->word != 0;
        return 0;
}

static int jval_magnitude(Jval value, bool *ret_negative, uint64_t *ret) {
        JNumber number;

        if (jval_type(value) != J_NUMBER)
                return -EINVAL;
        jnumber_parse(value.doc->text + value.node->start, value.node->size, &number);
        *ret_negative = number.negative;
        return jnumber_uint64(&number, ret);
}

int jval_uint64(Jval value, uint64_t *ret) {
        uint64_t magnitude;
        bool negative;
        int r;

        r = jval_magnitude(value, &negative, &magnitude);
        if (r < 0)
                return r;
        if (negative)
                return -ERANGE;
        *ret = magnitude;
        return 0;
}

int jval_int64(Jval value, int64_t *ret) {
        uint64_t magnitude;
        bool negative;
        int r;

        r = jval_magnitude(value, &negative, &magnitude);
        if (r < 0)
                return r;
        if (magnitude > (uint64_t) INT64_MAX + negative)
                return -ERANGE;
        *ret = negative ? (int64_t) -magnitude : (int64_t) magnitude;
        return 0;
}

JNumberClass jval_number_class(Jval value) {
        int64_t whole;
        int r;

        if (jval_type(value) != J_NUMBER)
                return J_NO_NUMBER;
        r = jval_int64(value, &whole);
        return r >= 0 ? J_INT64 : r == -ERANGE ? J_BIG_INTEGER : J_REAL;
}

const char *jval_number_text(Jval value, size_t *ret_size) {
        return jval_type(value) == J_NUMBER ? jval_source(value, ret_size) : NULL;
}

const char *jval_source(Jval value, size_t *ret_size) {
        if (!value.node)
                return NULL;
        *ret_size = value.node->size;
        return value.doc->text + value.node->start;
}
