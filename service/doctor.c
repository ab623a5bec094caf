/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/jdoc.h"
#include "common/jwriter.h"
#include "common/limits.h"
#include "sandbox/probe.h"
#include "service/host-launch.h"
#include "service/lock-probe.h"
#include "service/service.h"

/* Tries everything that could keep an extension from running, and says of each what it found and what to do. The walls are
 * tried from inside a throw-away unit, the same way as those of a real host. */

typedef struct Doctor {
        Service *service;
        JWriter writer;
        bool failed;
        HostLaunch *launch;
        SandboxProbe *probe;
        LockProbe *lock;
        DoctorDone done;
        void *userdata;
} Doctor;

typedef enum DoctorVerdict {
        DOCTOR_OK,
        DOCTOR_WARNING,
        DOCTOR_FAILED,
} DoctorVerdict;

/* The caller may add members, and ends the object. */
static void doctor_begin_check(Doctor *doctor, const char *name, DoctorVerdict verdict, const char *found, const char *advice) {
        static const char *const words[] = { "ok", "warning", "failed" };
        JWriter *writer = &doctor->writer;

        doctor->failed = doctor->failed || verdict == DOCTOR_FAILED;
        jwriter_begin_object(writer);
        jwriter_member_string(writer, "name", name);
        jwriter_member_string(writer, "verdict", words[verdict]);
        jwriter_member_string(writer, "found", found);
        if (advice)
                jwriter_member_string(writer, "advice", advice);
}

static void doctor_check(Doctor *doctor, const char *name, DoctorVerdict verdict, const char *found, const char *advice) {
        doctor_begin_check(doctor, name, verdict, found, advice);
        jwriter_end_object(&doctor->writer);
}

static void doctor_finish(Doctor *doctor) {
        g_autofree char *report = NULL;

        jwriter_end_array(&doctor->writer);
        jwriter_member_boolean(&doctor->writer, "ok", !doctor->failed);
        jwriter_end_object(&doctor->writer);
        report = jwriter_steal(&doctor->writer, NULL);
        doctor->done(report, doctor->userdata);

        sandbox_probe_free(doctor->probe);
        lock_probe_free(doctor->lock);
        host_launch_free(doctor->launch);
        jwriter_done(&doctor->writer);
        g_free(doctor);
}

static void check_walls(Doctor *doctor, const SandboxReport *report) {
        for (size_t i = 0; report && i < report->n_checks; i++) {
                const SandboxCheck *check = &report->checks[i];
                g_autofree char *name = g_strdup_printf("wall:%s", check->name);

                doctor_check(doctor, name, check->held ? DOCTOR_OK : check->required ? DOCTOR_FAILED : DOCTOR_WARNING,
                             check->detail ?: "", check->held ? NULL : "Plugins are refused while a required wall does not hold.");
        }
}

/* What is configured beside what the control group says; @unit is what both are counted in. */
static void check_limit(Doctor *doctor, const char *name, uint64_t configured, uint64_t unit, const char *unit_name, const CgroupValue *value) {
        bool required = doctor->service->config->require_memory_limit;
        g_autofree char *wanted = g_strdup_printf("%" G_GUINT64_FORMAT " %s configured", configured / unit, unit_name);
        g_autofree char *found =
                        value->enforced ? g_strdup_printf("%s, %" G_GUINT64_FORMAT " in force, enforced by the control group", wanted, value->limit / unit)
                                        : g_strdup_printf("%s, not enforced: %s", wanted, value->reason[0] ? value->reason : "nothing limits it");

        if (value->enforced)
                doctor_check(doctor, name, DOCTOR_OK, found, NULL);
        else
                doctor_check(doctor, name, required ? DOCTOR_FAILED : DOCTOR_WARNING, found,
                             "The limit on the process's own data (RLIMIT_DATA) still holds. Delegate the controller to user "
                             "managers (Delegate= of user@.service, control groups version 2) to have this one too.");
}

static void on_probe(SandboxProbe *probe, const SandboxProbeResult *result, void *userdata) {
        Doctor *doctor = userdata;
        g_autofree char *took = g_strdup_printf("a throw-away unit reported after %" G_GUINT64_FORMAT " ms", result->start_usec / 1000);

        (void) probe;
        doctor_check(doctor, "sandbox", result->error < 0 ? DOCTOR_FAILED : DOCTOR_OK, result->cause ?: took,
                     result->error < 0 ? "No plugin runs with less; make this wall possible first." : NULL);
        check_walls(doctor, result->report);
        if (result->report) {
                const Config *config = doctor->service->config;

                check_limit(doctor, "limit:memory", config->memory_bytes, MIB(1), "MiB", &result->limits.memory);
                check_limit(doctor, "limit:tasks", config->tasks, 1, "tasks", &result->limits.tasks);
        }
        doctor_finish(doctor);
}

static int on_no_probe(sd_event_source *source, void *userdata) {
        (void) sd_event_source_disable_unref(source);
        doctor_finish(userdata);
        return 0;
}

static void doctor_probe(Doctor *doctor) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        sd_event_source *source = NULL;
        int r;

        r = host_launch_probe(&doctor->service->context, (uint64_t) g_get_real_time() / 1000, &doctor->launch, &error);
        if (r >= 0)
                r = sandbox_probe_new(doctor->service->manager, host_launch_spec(doctor->launch), on_probe, doctor, &doctor->probe,
                                      &error);
        if (r >= 0)
                return;

        doctor_check(doctor, "sandbox", DOCTOR_FAILED, error.message ?: g_strerror(-r), "See the service's log.");
        if (sd_event_add_defer(doctor->service->event, &source, on_no_probe, doctor) < 0)
                doctor_finish(doctor);
}

/* Every door that the host's self test tried, by name. */
static void check_doors(Doctor *doctor, const char *lock) {
        g_autoptr(Jdoc) doc = NULL;
        g_autofree char *found = NULL;
        Jval doors, key, door;
        JIter iter;

        (void) jdoc_parse(lock, strlen(lock), NULL, &doc, NULL);
        doors = jval_member(jdoc_root(doc), "doors");
        found = g_strdup_printf("%zu doors of %s %s were tried behind the walls; all are shut", jval_length(doors),
                                jval_text(jval_member(jdoc_root(doc), "runtime")), jval_text(jval_member(jdoc_root(doc), "version")));
        doctor_begin_check(doctor, "lock", DOCTOR_OK, found, NULL);
        jwriter_key(&doctor->writer, "doors");
        jwriter_begin_array(&doctor->writer);
        iter = jval_iterate(doors);
        while (jiter_next(&iter, &key, &door))
                jwriter_string(&doctor->writer, jval_text(door));
        jwriter_end_array(&doctor->writer);
        jwriter_end_object(&doctor->writer);
}

static void on_lock(const char *lock, const char *reason, void *userdata) {
        Doctor *doctor = userdata;

        if (lock)
                check_doors(doctor, lock);
        else
                doctor_check(doctor, "lock", DOCTOR_FAILED, reason ?: "the host did not come up",
                             "No extension runs on a runtime that can't be locked. What the host said: journalctl --user -u 'codewhale-host-*'.");
        doctor_probe(doctor);
}

static void on_runtime(const Runtime *runtime, const char *why, void *userdata) {
        Doctor *doctor = userdata;

        doctor_check(doctor, "runtime", runtime ? DOCTOR_OK : DOCTOR_FAILED, why,
                     runtime ? NULL : "Install Node 22.19 or newer, or name one in config.toml: [extension_host] node = \"…\".");
        if (runtime)
                doctor->lock = lock_probe_new(&doctor->service->context, on_lock, doctor);
        else
                doctor_probe(doctor);
}

static void check_permissions(Doctor *doctor) {
        const Permissions *permissions = doctor->service->permissions;
        const char *error = permissions_get_error(permissions), *project = overlay_table_get_error(doctor->service->overlays);
        unsigned warnings = permissions_count_warnings(permissions);

        if (error)
                doctor_check(doctor, "permissions", DOCTOR_FAILED, error,
                             permissions_get_unreadable(permissions)
                                             ? "Nothing runs until it is mended: 'codewhalectl policy check', then 'codewhalectl reload'."
                                             : "The last good rules are in force. Mend it ('codewhalectl policy check'), then 'codewhalectl reload'.");
        else
                doctor_check(doctor, "permissions", warnings ? DOCTOR_WARNING : DOCTOR_OK,
                             warnings ? "some rules do nothing" : "the rules in force are those of the files",
                             warnings ? "'codewhalectl policy show' names them." : NULL);
        if (project)
                doctor_check(doctor, "workspace", DOCTOR_WARNING, project,
                             "What is not proven to only read asks in that workspace, until the file is mended.");
}

static void check_service(Doctor *doctor) {
        const Service *service = doctor->service;
        const Diagnostics *diagnostics = plugin_set_get_diagnostics(service->plugins);

        doctor_check(doctor, "configuration", service->config->error ? DOCTOR_FAILED : DOCTOR_OK,
                     service->config->error ?: codewhale_home_get_path(service->home, HOME_ROOT),
                     config_get_unreadable(service->config)
                                     ? "Nothing runs until it is mended: 'codewhalectl policy check', then 'codewhalectl reload'."
                     : service->config->error ? "What was read last is in force. Mend it, then 'codewhalectl reload'." : NULL);
        check_permissions(doctor);
        doctor_check(doctor, "feature", service->config->extension_host ? DOCTOR_OK : DOCTOR_WARNING,
                     service->config->extension_host ? "native extensions are on" : "native extensions are off",
                     service->config->extension_host ? NULL : "Set extension_host = true under [features] in config.toml.");
        doctor_check(doctor, "decisions", service->decisions ? DOCTOR_OK : DOCTOR_FAILED,
                     codewhale_home_get_path(service->home, HOME_DECISIONS),
                     service->decisions ? NULL : "Make the folder usable for its owner only, then restart the service.");
        doctor_check(doctor, "manager", service->manager_lost ? DOCTOR_FAILED : DOCTOR_OK,
                     service->manager_lost ?: unit_manager_kind_to_string(unit_manager_get_kind(service->manager)),
                     service->manager_lost ? "A running systemd manager of this user is needed: log in through PAM." : NULL);
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);

                doctor_check(doctor, diagnostic_code_to_string(diagnostic->code),
                             diagnostic_code_is_error(diagnostic->code) ? DOCTOR_FAILED : DOCTOR_WARNING, diagnostic->message,
                             diagnostic->path);
        }
}

int service_doctor(Service *service, DoctorDone done, void *userdata, sd_bus_error *reterr) {
        Doctor *doctor = g_new0(Doctor, 1);

        (void) reterr;
        doctor->service = service;
        doctor->done = done;
        doctor->userdata = userdata;
        jwriter_init(&doctor->writer);
        jwriter_begin_object(&doctor->writer);
        jwriter_key(&doctor->writer, "checks");
        jwriter_begin_array(&doctor->writer);
        check_service(doctor);
        runtime_selector_select(service->runtime, on_runtime, doctor);
        return 0;
}
