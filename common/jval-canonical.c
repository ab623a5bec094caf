/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "common/jdoc-node.h"
#include "common/jnumber.h"

/* Whole numbers and fractions are written out up to this many places; beyond it an exponent keeps the text
 * short. */
#define PLACES_MAX 21

static void put_digits(GString *out, const char **digit, size_t count, size_t *left) {
        for (; count > 0 && *left > 0; count--) {
                g_string_append_c(out, **digit);
                if (--*left > 0)
                        *digit = jnumber_next(*digit);
        }
        for (; count > 0; count--)
                g_string_append_c(out, '0');
}

/* One text for one value: 12, 0.5, 1.5e40. */
static void put_number(GString *out, const char *text, size_t size) {
        JNumber number;
        const char *digit;
        size_t left;
        bool plain;

        jnumber_parse(text, size, &number);
        digit = number.digits;
        left = number.count;
        if (left == 0) {
                g_string_append_c(out, '0');
                return;
        }

        plain = number.point > -6 && number.point <= PLACES_MAX;
        if (number.negative)
                g_string_append_c(out, '-');
        if (plain && number.point <= 0) {
                g_string_append(out, "0.");
                for (int64_t i = number.point; i < 0; i++)
                        g_string_append_c(out, '0');
        } else {
                put_digits(out, &digit, plain ? (size_t) number.point : 1, &left);
                if (left > 0)
                        g_string_append_c(out, '.');
        }
        put_digits(out, &digit, left, &left);
        if (!plain)
                g_string_append_printf(out, "e%" PRIi64, number.point - 1);
}

static void put_string(GString *out, const Jdoc *doc, const Jnode *node) {
        size_t size, plain = 0;
        const char *bytes = jnode_bytes(doc, node, &size);

        g_string_append_c(out, '"');
        for (size_t i = 0; i < size; i++) {
                unsigned char c = (unsigned char) bytes[i];

                if (c >= 0x20 && c != '"' && c != '\\')
                        continue;
                g_string_append_len(out, bytes + plain, (gssize) (i - plain));
                plain = i + 1;
                if (c == '"' || c == '\\')
                        g_string_append_printf(out, "\\%c", c);
                else
                        g_string_append_printf(out, "\\u%04x", c);
        }
        g_string_append_len(out, bytes + plain, (gssize) (size - plain));
        g_string_append_c(out, '"');
}

/* A container that is being written. */
typedef struct Frame {
        const Jnode **keys; /* object: sorted; array: NULL */
        const Jnode *next;  /* array: its next element */
        uint32_t count;
        uint32_t at;
} Frame;

static int compare_bytes(const void *a, const void *b, void *userdata) {
        const Jdoc *doc = userdata;
        size_t a_size, b_size;
        const char *a_bytes = jnode_bytes(doc, *(const Jnode *const *) a, &a_size);
        const char *b_bytes = jnode_bytes(doc, *(const Jnode *const *) b, &b_size);
        int order = memcmp(a_bytes, b_bytes, MIN(a_size, b_size));

        return order != 0 ? order : a_size < b_size ? -1 : a_size > b_size;
}

static void frame_push(GArray *frames, const Jdoc *doc, const Jnode *node) {
        Frame frame = { .next = node + 1, .count = jnode_count(doc, node) };
        const Jnode *key = node + 1;

        if (jnode_type(node) == J_OBJECT) {
                frame.keys = g_new(const Jnode *, frame.count + 1u);
                for (uint32_t i = 0; i < frame.count; i++, key = jnode_next(key + 1))
                        frame.keys[i] = key;
                qsort_r(frame.keys, frame.count, sizeof(*frame.keys), compare_bytes, (void *) doc);
        }
        g_array_append_val(frames, frame);
}

/* Writes a scalar, or the bracket that opens a container. */
static void put_value(GString *out, GArray *frames, const Jdoc *doc, const Jnode *node) {
        switch (jnode_type(node)) {
        case J_OBJECT:
        case J_ARRAY:
                g_string_append_c(out, jnode_type(node) == J_OBJECT ? '{' : '[');
                frame_push(frames, doc, node);
                break;
        case J_STRING:
                put_string(out, doc, node);
                break;
        case J_NUMBER:
                put_number(out, doc->text + node->start, node->size);
                break;
        default:
                g_string_append_len(out, doc->text + node->start, node->size);
        }
}

static void frame_step(GString *out, GArray *frames, const Jdoc *doc) {
        Frame *frame = &g_array_index(frames, Frame, frames->len - 1);
        const Jnode *value;

        if (frame->at == frame->count) {
                g_string_append_c(out, frame->keys ? '}' : ']');
                g_free(frame->keys);
                g_array_set_size(frames, frames->len - 1);
                return;
        }

        if (frame->at > 0)
                g_string_append_c(out, ',');
        if (frame->keys) {
                put_string(out, doc, frame->keys[frame->at]);
                g_string_append_c(out, ':');
                value = frame->keys[frame->at] + 1;
        } else {
                value = frame->next;
                frame->next = jnode_next(value);
        }
        frame->at++;
        put_value(out, frames, doc, value);
}

char *jval_canonical(Jval value) {
        g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Frame));
        g_autoptr(GString) out = g_string_new(NULL);

        if (value.node)
                put_value(out, frames, value.doc, value.node);
        while (frames->len > 0)
                frame_step(out, frames, value.doc);

        return g_string_free(g_steal_pointer(&out), FALSE);
}
