/* SPDX-License-Identifier: MIT */
#include "fake-manager.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "sandbox/unit-name.h"

#define JOB_PATH "/org/freedesktop/systemd1/job/7"

static void must(int r) {
        if (r < 0)
                g_error("fake manager: %s", strerror(-r));
}

static void read_text(FakeManager *fake, sd_bus_message *m, const char *name, const char *signature) {
        const char *text;
        g_auto(GStrv) list = NULL;

        if (g_str_equal(signature, "s")) {
                must(sd_bus_message_read(m, "s", &text));
                g_hash_table_insert(fake->texts, g_strdup(name), g_strdup(text));
        } else if (g_str_equal(signature, "as")) {
                must(sd_bus_message_read_strv(m, &list));
                g_hash_table_insert(
                                fake->texts, g_strdup(name), g_strjoinv(",", list ?: (char *[]){ NULL }));
        } else
                must(sd_bus_message_skip(m, signature));
}

static void read_properties(FakeManager *fake, sd_bus_message *m) {
        int r;

        g_ptr_array_set_size(fake->properties, 0);
        g_hash_table_remove_all(fake->texts);
        must(sd_bus_message_enter_container(m, 'a', "(sv)"));
        while ((r = sd_bus_message_enter_container(m, 'r', "sv")) > 0) {
                const char *name, *signature;

                must(sd_bus_message_read(m, "s", &name));
                must(sd_bus_message_peek_type(m, NULL, &signature));
                g_ptr_array_add(fake->properties, g_strdup_printf("%s %s", name, signature));
                must(sd_bus_message_enter_container(m, 'v', signature));
                read_text(fake, m, name, signature);
                must(sd_bus_message_exit_container(m));
                must(sd_bus_message_exit_container(m));
        }
        must(r);
        must(sd_bus_message_exit_container(m));
}

bool fake_manager_was_given(const FakeManager *fake, const char *property) {
        for (guint i = 0; i < fake->properties->len; i++) {
                const char *given = g_ptr_array_index(fake->properties, i);

                if (g_str_has_prefix(given, property) && given[strlen(property)] == ' ')
                        return true;
        }

        return false;
}

static int answer_start(FakeManager *fake, sd_bus_message *m) {
        const char *unit, *mode;

        must(sd_bus_message_read(m, "ss", &unit, &mode));
        g_assert_cmpstr(mode, ==, "fail");
        g_free(fake->unit);
        fake->unit = g_strdup(unit);
        read_properties(fake, m);
        must(sd_bus_message_skip(m, "a(sa(sv))"));
        g_assert_true(sd_bus_message_at_end(m, true) > 0);
        fake->n_starts++;

        if (fake->silent)
                return 1;
        if (fake->refusal)
                return sd_bus_reply_method_errorf(
                                m, "org.freedesktop.DBus.Error.Failed", "%s", fake->refusal);
        for (const char *const *name = fake->refused; name && *name; name++)
                if (fake_manager_was_given(fake, *name))
                        return sd_bus_reply_method_errorf(m, "org.freedesktop.DBus.Error.PropertyReadOnly",
                                        "Cannot set property %s, or unknown property.", *name);

        must(sd_bus_reply_method_return(m, "o", JOB_PATH));
        if (fake->job_result)
                fake_manager_job(fake, fake->job_result);
        return 1;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *reterr) {
        FakeManager *fake = userdata;
        const char *member = sd_bus_message_get_member(m), *unit, *who;

        (void) reterr;

        if (g_strcmp0(member, "Subscribe") == 0)
                return sd_bus_reply_method_return(m, NULL);
        if (g_strcmp0(member, "StartTransientUnit") == 0)
                return answer_start(fake, m);
        if (g_strcmp0(member, "ListUnitsByNames") == 0)
                return sd_bus_reply_method_return(m, "a(ssssssouso)", 1, fake->unit, "", fake->active ? "loaded" : "not-found",
                                fake->active ?: "inactive", "", "", "/unit", fake->job ? 7 : 0, "", "/");
        if (g_strcmp0(member, "StopUnit") == 0) {
                fake->n_stops++;
                return 1;
        }
        if (g_strcmp0(member, "KillUnit") == 0) {
                must(sd_bus_message_read(m, "ssi", &unit, &who, &fake->signal));
                g_assert_cmpstr(who, ==, "all");
                fake->n_kills++;
                return 1;
        }
        if (g_strcmp0(member, "Get") == 0)
                return sd_bus_reply_method_return(m, "v", "s", fake->control_group);

        return 0;
}

void fake_manager_state(FakeManager *fake, const char *active, const char *result, int code, int status) {
        g_autofree char *path = unit_name_to_path(fake->unit);

        if (code != 0)
                must(sd_bus_emit_signal(fake->bus, path, "org.freedesktop.DBus.Properties",
                                "PropertiesChanged", "sa{sv}as", "org.freedesktop.systemd1.Service", 4,
                                "Result", "s", result, "ExecMainCode", "i", code, "ExecMainStatus", "i",
                                status, "MainPID", "u", 0, 0));
        must(sd_bus_emit_signal(fake->bus, path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                        "sa{sv}as", "org.freedesktop.systemd1.Unit", 2, "ActiveState", "s", active,
                        "Unheard", "(ib)", 1, true, 0));
}

void fake_manager_job(FakeManager *fake, const char *result) {
        must(sd_bus_emit_signal(fake->bus, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                        "JobRemoved", "uoss", 7, JOB_PATH, fake->unit, result));
}

static int on_accept(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        FakeManager *fake = userdata;
        sd_id128_t id = {};

        (void) source;
        (void) revents;

        fake->bus = sd_bus_close_unref(fake->bus);
        fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        g_assert_cmpint(fd, >=, 0);
        must(sd_bus_new(&fake->bus));
        must(sd_bus_set_fd(fake->bus, fd, fd));
        must(sd_bus_set_server(fake->bus, 1, id));
        must(sd_bus_negotiate_fds(fake->bus, 1));
        must(sd_bus_start(fake->bus));
        must(sd_bus_attach_event(fake->bus, fake->event, 0));
        must(sd_bus_add_filter(fake->bus, NULL, on_message, fake));
        return 0;
}

void fake_manager_init(FakeManager *fake, sd_event *event) {
        *fake = (FakeManager){
                .event = sd_event_ref(event),
                .directory = g_dir_make_tmp("manager-XXXXXX", NULL),
                .listening = -EBADF,
                .job_result = "done",
                .control_group = "",
                .properties = g_ptr_array_new_with_free_func(g_free),
                .texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        };
        fake->path = g_build_filename(fake->directory, "private", NULL);
        fake->address = g_strdup_printf("unix:path=%s", fake->path);
}

void fake_manager_listen(FakeManager *fake) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        fake->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        g_strlcpy(address.sun_path, fake->path, sizeof(address.sun_path));
        g_assert_cmpint(bind(fake->listening, (struct sockaddr *) &address, sizeof(address)), ==, 0);
        g_assert_cmpint(listen(fake->listening, 5), ==, 0);
        must(sd_event_add_io(fake->event, &fake->accept, fake->listening, 1, on_accept, fake));
}

void fake_manager_unlisten(FakeManager *fake) {
        fake->accept = sd_event_source_disable_unref(fake->accept);
        close_fd(&fake->listening);
        (void) g_unlink(fake->path);
        fake->bus = sd_bus_close_unref(fake->bus);
}

void fake_manager_done(FakeManager *fake) {
        fake_manager_unlisten(fake);
        (void) g_rmdir(fake->directory);
        g_ptr_array_unref(fake->properties);
        g_hash_table_unref(fake->texts);
        g_free(fake->directory);
        g_free(fake->path);
        g_free(fake->address);
        g_free(fake->unit);
        sd_event_unref(fake->event);
}
