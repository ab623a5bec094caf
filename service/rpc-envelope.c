/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glib.h>

#include "service/rpc-envelope.h"

int envelope_read(Jval root, Envelope *ret) {
        static const char *const names[] = { "id", "method", "params", "result", "error" };
        Envelope envelope = {};
        Jval *const places[] = { &envelope.id, &envelope.method, &envelope.params, &envelope.result, &envelope.error };
        JIter iter = jval_iterate(root);
        bool version = false;
        Jval key, value;

        if (!jval_is(root, J_OBJECT))
                return -EBADMSG;
        while (jiter_next(&iter, &key, &value)) {
                size_t i = 0;

                if (jval_equals_text(key, "jsonrpc")) {
                        version = jval_equals_text(value, "2.0");
                        continue;
                }
                while (i < G_N_ELEMENTS(names) && !jval_equals_text(key, names[i]))
                        i++;
                if (i == G_N_ELEMENTS(names))
                        return -EBADMSG;
                *places[i] = value;
        }
        if (!version)
                return -EBADMSG;

        *ret = envelope;
        return 0;
}
