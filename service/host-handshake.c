/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "common/cleanup.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "service/host-handshake.h"

#define PROTOCOL 1u
#define DOOR_BYTES_MAX 128u

void host_expectation_done(HostExpectation *expectation) {
        g_free(expectation->bundle_sha256);
        g_free(expectation->runtime);
        g_free(expectation->version);
        *expectation = (HostExpectation) {};
}

static int compare(const char *what, Jval said, const char *expected, char **ret_reason) {
        if (jval_equals_text(said, expected))
                return 0;

        *ret_reason = g_strdup_printf("the host says that its %s is '%s', but '%s' was launched", what, jval_text(said) ?: "?", expected);
        return -EPROTO;
}

int host_hello_check(Jval params, const HostExpectation *expected, char **ret_reason) {
        Jval protocol = jval_member(params, "protocol"), runtime = jval_member(params, "runtime");
        uint64_t min = 0, max = 0;
        int r;

        (void) jval_uint64(jval_member(protocol, "min"), &min);
        (void) jval_uint64(jval_member(protocol, "max"), &max);
        if (min > PROTOCOL || max < PROTOCOL) {
                *ret_reason = g_strdup_printf("the host speaks protocol %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                                              ", this service speaks %u", min, max, PROTOCOL);
                return -EPROTO;
        }
        if (jval_length(jval_member(params, "builtin_modules")) > 0) {
                *ret_reason = g_strdup("the host says that it has builtin modules, but none was launched");
                return -EPROTO;
        }

        r = compare("bundle", jval_member(params, "bundle_sha256"), expected->bundle_sha256, ret_reason);
        if (r >= 0)
                r = compare("tier", jval_member(params, "tier"), host_tier_to_string(expected->tier), ret_reason);
        if (r >= 0)
                r = compare("runtime", jval_member(runtime, "name"), expected->runtime, ret_reason);
        if (r >= 0)
                r = compare("version", jval_member(runtime, "version"), expected->version, ret_reason);
        return r;
}

char *host_hello_lock(Jval params) {
        Jval runtime = jval_member(params, "runtime"), key, door;
        JIter iter = jval_iterate(jval_member(params, "verified_doors"));
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "runtime", jval_text(jval_member(runtime, "name")));
        jwriter_member_string(&writer, "version", jval_text(jval_member(runtime, "version")));
        jwriter_key(&writer, "doors");
        jwriter_begin_array(&writer);
        while (jiter_next(&iter, &key, &door)) {
                g_autofree char *clean = jval_text(door) ? sanitize_line(jval_text(door), DOOR_BYTES_MAX, NULL) : NULL;

                if (clean)
                        jwriter_string(&writer, clean);
        }
        jwriter_end_array(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}

char *host_initialize_params(size_t *ret_size) {
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "protocol", PROTOCOL);
        jwriter_key(&writer, "limits");
        jwriter_begin_object(&writer);
        jwriter_member_uint(&writer, "max_frame", FRAME_PAYLOAD_BYTES_MAX);
        jwriter_member_uint(&writer, "max_inflight", RPC_IN_FLIGHT_MAX);
        jwriter_member_uint(&writer, "dispose_deadline_ms", HOST_DISPOSE_MSEC);
        jwriter_member_uint(&writer, "activate_deadline_ms", HOST_ACTIVATE_MSEC);
        jwriter_end_object(&writer);
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, ret_size);
}
