/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "common/limits.h"
#include "common/sanitize.h"
#include "sandbox/explain.h"
#include "sandbox/report.h"

/* The checks that a plugin does not run without, and what to tell people when one has not held. The
 * launcher's own opinion
 * ("required") can only add to this. */
static const struct {
        const char *name;
        const char *cause;
} required[] = {
        { "capabilities", "the sandbox still has capabilities" },
        { "no-new-capabilities", "the sandbox can gain capabilities" },
        { "no-new-privileges", "the sandbox can gain privileges" },
        { "seccomp", "no system call filter is in force" },
        { "personality", "the sandbox can change its execution domain" },
        { "namespace-user", "the sandbox shares the user namespace of the service" },
        { "namespace-net", "the sandbox shares the network of this machine" },
        { "namespace-mnt", "the sandbox shares the mounts of this machine" },
        { "namespace-ipc", "the sandbox shares System V IPC and message queues with the user's programs" },
        { "user-map", "the sandbox sees more users than its own" },
        { "no-new-namespaces", "the sandbox can make namespaces" },
        { "descriptors", "the sandbox inherited an open file" },
        { "channel", "the sandbox has no channel to the service" },
        { "environment", "the sandbox has another environment than it was given" },
        { "read-only", "the sandbox can write outside its own directories" },
        { "writable", "the sandbox can't write its own directories" },
        { "no-execution", "the sandbox can execute what it has written" },
        { "no-set-user-id", "the sandbox can make set-user-id files" },
        { "hidden", "the sandbox sees files that it must not see" },
        { "network", "the sandbox can open sockets" },
        { "sockets", "the sandbox reaches a socket that it must not reach" },
        { "abstract-sockets", "the sandbox reaches an abstract socket of this machine" },
        { "system-calls", "a dangerous system call is let through" },
        { "process-memory", "the sandbox reaches the memory or files of other processes" },
        { "signals", "the sandbox can send signals to the user's other processes" },
        { "limits-of-others", "the sandbox can change the limits of the user's other processes" },
};

static int refuse_json(sd_bus_error *reterr, const char *what) {
        return errors_set(reterr, ERROR_SANDBOX_REFUSED, "The launcher's report can't be read: %s.", what);
}

static int read_check(Jval value, SandboxCheck *ret, sd_bus_error *reterr) {
        const char *name = jval_text(jval_member(value, "name"));
        const char *detail = jval_text(jval_member(value, "detail"));
        bool held, is_required;

        if (!name || !detail || strlen(name) > SANDBOX_CHECK_NAME_BYTES_MAX ||
                        jval_boolean(jval_member(value, "held"), &held) < 0 ||
                        jval_boolean(jval_member(value, "required"), &is_required) < 0)
                return refuse_json(reterr, "a check is not complete");

        *ret = (SandboxCheck){
                .name = g_strdup(name),
                .held = held,
                .required = is_required,
                .detail = sanitize_line(detail, ERROR_TEXT_BYTES_MAX, NULL),
        };
        return 0;
}

static int read_checks(Jval checks, SandboxReport *report, sd_bus_error *reterr) {
        JIter iter;
        Jval key, item;
        int r;

        if (!jval_is(checks, J_ARRAY) || jval_length(checks) > SANDBOX_CHECKS_MAX)
                return refuse_json(reterr, "it has no usable list of checks");

        report->checks = g_new0(SandboxCheck, jval_length(checks));
        iter = jval_iterate(checks);
        while (jiter_next(&iter, &key, &item)) {
                r = read_check(item, &report->checks[report->n_checks], reterr);
                if (r < 0)
                        return r;
                report->n_checks++;
        }

        return 0;
}

static int read_limit(Jval value, uint64_t *ret) {
        if (jval_is(value, J_NULL)) {
                *ret = UINT64_MAX;
                return 0;
        }
        return jval_uint64(value, ret);
}

static int read_numbers(Jval params, SandboxReport *report, sd_bus_error *reterr) {
        Jval limits = jval_member(params, "limits");
        uint64_t version, landlock;

        if (jval_uint64(jval_member(params, "version"), &version) < 0 || version != SANDBOX_REPORT_VERSION)
                return refuse_json(reterr, "it has another version");
        if (read_limit(jval_member(limits, "data"), &report->data_bytes) < 0 ||
                        read_limit(jval_member(limits, "files"), &report->files) < 0 ||
                        jval_uint64(jval_member(params, "landlock"), &landlock) < 0 || landlock > UINT_MAX ||
                        jval_uint64(jval_member(params, "took_usec"), &report->took_usec) < 0)
                return refuse_json(reterr, "a number is missing");

        report->version = (unsigned) version;
        report->landlock = (unsigned) landlock;
        return 0;
}

int sandbox_report_parse(const char *payload, size_t size, SandboxReport **ret, sd_bus_error *reterr) {
        static const JdocLimits limits = {
                .bytes_max = SANDBOX_REPORT_BYTES_MAX,
                .depth_max = 8,
                .nodes_max = SANDBOX_CHECKS_MAX * 16,
        };
        g_autoptr(SandboxReport) report = NULL;
        g_autoptr(Jdoc) doc = NULL;
        JdocError error = {};
        Jval root, params;
        int r;

        assert(payload);
        assert(ret);

        r = jdoc_parse(payload, size, &limits, &doc, &error);
        if (r < 0)
                return refuse_json(reterr, error.message ? error.message : "it is too large");

        root = jdoc_root(doc);
        params = jval_member(root, "params");
        if (!jval_equals_text(jval_member(root, "method"), "launcher/report") || !jval_is(params, J_OBJECT))
                return refuse_json(reterr, "the first frame was another message");

        report = g_new0(SandboxReport, 1);
        r = read_numbers(params, report, reterr);
        if (r < 0)
                return r;
        r = read_checks(jval_member(params, "checks"), report, reterr);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&report);
        return 0;
}

SandboxReport *sandbox_report_free(SandboxReport *report) {
        if (!report)
                return NULL;

        for (size_t i = 0; i < report->n_checks; i++) {
                g_free(report->checks[i].name);
                g_free(report->checks[i].detail);
        }
        g_free(report->checks);
        g_free(report);
        return NULL;
}

const SandboxCheck *sandbox_report_find(const SandboxReport *report, const char *name) {
        assert(report);
        assert(name);

        for (size_t i = 0; i < report->n_checks; i++)
                if (g_str_equal(report->checks[i].name, name))
                        return &report->checks[i];

        return NULL;
}

/* The worst of all checks with one name: a report can't make up for a failed check by repeating it. */
static const SandboxCheck *find_failed(const SandboxReport *report, const char *name) {
        for (size_t i = 0; i < report->n_checks; i++)
                if (g_str_equal(report->checks[i].name, name) && !report->checks[i].held)
                        return &report->checks[i];

        return NULL;
}

static int refuse(sd_bus_error *reterr, const char *name, const char *cause, const char *detail) {
        g_autofree char *userns = g_str_has_prefix(name, "namespace-") ? explain_user_namespaces() : NULL;

        return errors_set(reterr, ERROR_SANDBOX_REFUSED, "A wall does not hold (%s): %s; %s%s%s.", name,
                        cause, detail, userns ? "; " : "", userns ? userns : "");
}

int sandbox_report_judge(const SandboxReport *report, sd_bus_error *reterr) {
        assert(report);

        for (size_t i = 0; i < G_N_ELEMENTS(required); i++) {
                const SandboxCheck *failed = find_failed(report, required[i].name);

                if (failed)
                        return refuse(reterr, failed->name, required[i].cause, failed->detail);
                if (!sandbox_report_find(report, required[i].name))
                        return errors_set(reterr, ERROR_SANDBOX_REFUSED, "A wall was not checked: %s.",
                                        required[i].name);
        }
        for (size_t i = 0; i < report->n_checks; i++)
                if (report->checks[i].required && !report->checks[i].held)
                        return refuse(reterr, report->checks[i].name, "the launcher requires it",
                                        report->checks[i].detail);

        return 0;
}
