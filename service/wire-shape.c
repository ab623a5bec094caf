/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/sha256.h"
#include "service/wire-shape.h"

#define FIELDS_MAX 32

/* Where in the parameters; the words for it are made only when something is wrong there. */
typedef struct Place {
        const struct Place *in;
        const char *name;
} Place;

static int complain(char **ret_reason, const Place *place, const char *words) {
        g_autoptr(GString) reason = g_string_new(place->name);

        for (place = place->in; place; place = place->in) {
                g_string_prepend_c(reason, '.');
                g_string_prepend(reason, place->name);
        }
        *ret_reason = g_strdup_printf("'%s' %s", reason->str, words);
        return -EBADMSG;
}

static int mismatch(char **ret_reason, const Place *place, const char *expected) {
        g_autofree char *words = g_strconcat("must be ", expected, NULL);

        return complain(ret_reason, place, words);
}

static bool is_sha256(const char *text) {
        return text && strlen(text) == SHA256_HEX_CHARS && strspn(text, "0123456789abcdef") == SHA256_HEX_CHARS;
}

static int check_string(Jval value, const ShapeField *field, const Place *place, char **ret_reason) {
        const char *const *word;

        if (!jval_is(value, J_STRING))
                return mismatch(ret_reason, place, "a string");
        if (field->max > 0 && jval_length(value) > field->max)
                return mismatch(ret_reason, place, "shorter");
        if (field->type == SHAPE_TEXT && !jval_text(value))
                return mismatch(ret_reason, place, "a string without NUL");
        if (field->type == SHAPE_SHA256 && !is_sha256(jval_text(value)))
                return mismatch(ret_reason, place, "64 lower-case hex digits");
        if (field->type == SHAPE_WORD) {
                for (word = field->words; *word; word++)
                        if (jval_equals_text(value, *word))
                                return 0;
                return mismatch(ret_reason, place, "one of the known words");
        }
        return 0;
}

static int check_fields(Jval object, const ShapeField *fields, const Place *place, char **ret_reason);

static int check_array(Jval value, const ShapeField *field, const Place *place, char **ret_reason) {
        JIter iter = jval_iterate(value);
        Jval key, item;
        int r;

        if (!jval_is(value, J_ARRAY))
                return mismatch(ret_reason, place, "an array");
        if (field->max > 0 && jval_length(value) > field->max)
                return mismatch(ret_reason, place, "a shorter array");

        while (jiter_next(&iter, &key, &item)) {
                if (!field->fields && !jval_is(item, J_STRING))
                        return mismatch(ret_reason, place, "an array of strings");
                if (!field->fields)
                        continue;
                r = check_fields(item, field->fields, place, ret_reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int check_value(Jval value, const ShapeField *field, const Place *place, char **ret_reason) {
        uint64_t number;

        switch (field->type) {
        case SHAPE_STRING:
        case SHAPE_WORD:
        case SHAPE_TEXT:
        case SHAPE_SHA256:
                return check_string(value, field, place, ret_reason);
        case SHAPE_UINT:
                return jval_uint64(value, &number) < 0 ? mismatch(ret_reason, place, "an unsigned integer") : 0;
        case SHAPE_HANDLE:
                return jval_uint64(value, &number) < 0 || number == 0 ? mismatch(ret_reason, place, "a positive integer") : 0;
        case SHAPE_BOOLEAN:
                return jval_is(value, J_BOOLEAN) ? 0 : mismatch(ret_reason, place, "a boolean");
        case SHAPE_ANY:
                return 0;
        case SHAPE_MAP:
                return jval_is(value, J_OBJECT) ? 0 : mismatch(ret_reason, place, "an object");
        case SHAPE_OBJECT:
                return check_fields(value, field->fields, place, ret_reason);
        case SHAPE_ARRAY:
                return check_array(value, field, place, ret_reason);
        }
        g_assert_not_reached();
}

static int find_field(const ShapeField *fields, Jval key) {
        for (int i = 0; fields[i].name; i++)
                if (jval_equals_text(key, fields[i].name))
                        return i;

        return -ENOENT;
}

static int check_fields(Jval object, const ShapeField *fields, const Place *place, char **ret_reason) {
        JIter iter = jval_iterate(object);
        Jval key, value;
        uint32_t seen = 0;
        int r, i;

        if (!jval_is(object, J_OBJECT))
                return mismatch(ret_reason, place, "an object");

        while (jiter_next(&iter, &key, &value)) {
                i = find_field(fields, key);
                if (i < 0)
                        return complain(ret_reason, place, "has an unknown field");
                r = check_value(value, &fields[i], &(Place) { place, fields[i].name }, ret_reason);
                if (r < 0)
                        return r;
                seen |= UINT32_C(1) << i;
        }

        for (i = 0; fields[i].name; i++) {
                assert(i < FIELDS_MAX);
                if (!fields[i].optional && !(seen & (UINT32_C(1) << i))) {
                        g_autofree char *words = g_strdup_printf("lacks '%s'", fields[i].name);

                        return complain(ret_reason, place, words);
                }
        }
        return 0;
}

int shape_check(Jval object, const ShapeField *fields, char **ret_reason) {
        return check_fields(object, fields, &(Place) { NULL, "params" }, ret_reason);
}
