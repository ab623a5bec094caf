/* SPDX-License-Identifier: MIT */
#include "cli/dev-service.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/client.h"
#include "common/cleanup.h"
#include "common/safe-file.h"

#define WAIT_USEC        (G_USEC_PER_SEC * 15)
#define STEP_USEC        20000
#define CONFIG_BYTES_MAX (UINT64_C(1) << 20)

/* Only this bus: no program of the session is to be started by a call on it. */
static const char bus_config[] =
                "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
                "  \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
                "<busconfig><type>session</type><listen>%s</listen><auth>EXTERNAL</auth>\n"
                "<policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\n"
                "<allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>\n";

/* Trust by token: nobody has to confirm that an author trusts what he is writing. */
static const char service_config[] = "[features]\nextension_host = true\n\n[trust]\nconfirm = \"token\"\n\n";

static char *quote_toml(const char *text) {
        g_autoptr(GString) out = g_string_new("\"");

        for (; *text; text++)
                if (*text == '"' || *text == '\\')
                        g_string_append_printf(out, "\\%c", *text);
                else if ((unsigned char) *text < 0x20 || *text == 0x7f)
                        g_string_append_printf(out, "\\u%04x", (unsigned) *text);
                else
                        g_string_append_c(out, *text);
        g_string_append_c(out, '"');
        return g_string_free(g_steal_pointer(&out), FALSE);
}

static int write_config(const DevService *service, const char *node, const char *config, char **ret_error) {
        g_autofree char *path = g_build_filename(service->folder, "home", "config.toml", NULL), *more = NULL;
        g_autoptr(GString) text = g_string_new(service_config);
        g_autoptr(GError) error = NULL;

        if (node) {
                g_autofree char *absolute = g_canonicalize_filename(node, NULL), *quoted = quote_toml(absolute);

                g_string_append_printf(text, "[extension_host]\nnode = %s\n\n", quoted);
        }
        if (config && !g_file_get_contents(config, &more, NULL, &error)) {
                *ret_error = g_strdup(error->message);
                return -EIO;
        }
        if (more)
                g_string_append(text, more);
        if (!g_file_set_contents_full(path, text->str, (gssize) text->len, G_FILE_SET_CONTENTS_NONE, 0600,
                            &error)) {
                *ret_error = g_strdup(error->message);
                return -EIO;
        }
        return 0;
}

static int make_folder(DevService *service, const char *node, const char *config, char **ret_error) {
        g_autoptr(GError) error = NULL;
        g_autofree char *home = NULL;

        service->folder = g_dir_make_tmp("codewhale-dev-XXXXXX", &error);
        if (!service->folder) {
                *ret_error = g_strdup(error->message);
                return -EIO;
        }
        service->address = g_strdup_printf("unix:path=%s/bus", service->folder);
        home = g_build_filename(service->folder, "home", NULL);
        if (mkdir(home, 0700) < 0)
                return -errno;

        return write_config(service, node, config, ret_error);
}

static int start_bus(DevService *service, char **ret_error) {
        g_autofree char *file = g_build_filename(service->folder, "bus.conf", NULL),
                        *text = g_strdup_printf(bus_config, service->address),
                        *option = g_strconcat("--config-file=", file, NULL);
        const char *arguments[] = { "dbus-daemon", "--nofork", "--nopidfile", option, NULL };
        g_autoptr(GError) error = NULL;
        int r;

        if (!g_file_set_contents(file, text, -1, &error)) {
                *ret_error = g_strdup(error->message);
                return -EIO;
        }
        r = dev_child_start(&service->bus, arguments, NULL);
        if (r == -ENOENT)
                *ret_error = g_strdup("There is no dbus-daemon, which the service needs to be reached; Debian has "
                                      "it in the package dbus-daemon.");
        return r;
}

/* CODEWHALE_DEV_SERVICE is for a service that is not installed: its command line. */
static int service_command(const DevService *service, char ***ret, char **ret_error) {
        const char *given = g_getenv("CODEWHALE_DEV_SERVICE");
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_auto(GStrv) words = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree char *home = g_strconcat("--home=", service->folder, "/home", NULL),
                        *address = g_strconcat("--address=", service->address, NULL);

        if (given && *given && !g_shell_parse_argv(given, NULL, &words, &error)) {
                *ret_error = g_strdup_printf("CODEWHALE_DEV_SERVICE: %s", error->message);
                return -EINVAL;
        }
        if (words)
                g_strv_builder_addv(builder, (const char **) words);
        else
                g_strv_builder_add(builder, DEV_SERVICE_PROGRAM);
        g_strv_builder_add(builder, home);
        g_strv_builder_add(builder, address);
        g_strv_builder_add(builder, "--log-level=info");
        g_strv_builder_add(builder, "--log-target=console");
        *ret = g_strv_builder_end(builder);
        return 0;
}

static int start_program(DevService *service, char **ret_error) {
        g_auto(GStrv) command = NULL;
        int r;

        r = service_command(service, &command, ret_error);
        if (r < 0)
                return r;
        r = dev_child_start(&service->program, (const char *const *) command, NULL);
        if (r < 0)
                *ret_error = g_strdup_printf("%s: %s", command[0], g_strerror(-r));
        return r;
}

static bool has_socket(const char *folder) {
        g_autofree char *path = g_build_filename(folder, "bus", NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* The service has its name when it is ready to answer. */
static bool answers(const char *address) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                r = sd_bus_get_name_creds(bus, CLIENT_SERVICE, 0, NULL);
        return r >= 0;
}

static void keep_last(const char *line, void *userdata) {
        char **last = userdata;

        g_free(*last);
        *last = g_strdup(line);
}

static int wait_for(DevService *service, DevChild *child, bool (*ready)(const char *), const char *argument,
                const char *what, char **ret_error) {
        int64_t end = g_get_monotonic_time() + WAIT_USEC;
        g_autofree char *last = NULL;

        (void) service;

        child->line = keep_last;
        child->userdata = &last;
        while (!ready(argument)) {
                bool running = dev_child_is_running(child);

                dev_child_drain(child);
                if (!running || g_get_monotonic_time() > end) {
                        *ret_error = g_strdup_printf("%s %s%s%s", what,
                                        running ? "does not answer" : "ended at once", last ? ": " : ".",
                                        last ? last : "");
                        return -EIO;
                }
                g_usleep(STEP_USEC);
        }
        child->line = NULL;
        return 0;
}

int dev_service_start(DevService *service, const char *node, const char *config, sd_event *event,
                DevChildLine line, void *userdata, char **ret_error) {
        int r;

        r = make_folder(service, node, config, ret_error);
        if (r >= 0)
                r = start_bus(service, ret_error);
        if (r >= 0)
                r = wait_for(service, &service->bus, has_socket, service->folder, "The bus", ret_error);
        if (r >= 0)
                r = start_program(service, ret_error);
        if (r >= 0)
                r = wait_for(service, &service->program, answers, service->address, "The service", ret_error);
        if (r >= 0)
                r = dev_child_read(&service->bus, event, NULL, NULL);
        if (r >= 0)
                r = dev_child_read(&service->program, event, line, userdata);
        if (r < 0 && !*ret_error)
                *ret_error = g_strdup(g_strerror(-r));
        return r;
}

void dev_service_stop(DevService *service) {
        dev_child_stop(&service->program);
        dev_child_stop(&service->bus);
        if (service->folder) {
                g_autofree char *parent = g_path_get_dirname(service->folder),
                                *name = g_path_get_basename(service->folder);
                _cleanup_close_ int fd = safe_open_directory(parent);

                (void) safe_remove_tree_at(fd, name);
        }
        g_clear_pointer(&service->folder, g_free);
        g_clear_pointer(&service->address, g_free);
}
