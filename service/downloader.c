/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "common/log.h"
#include "sandbox/downloader/message.h"
#include "sandbox/unit-name.h"
#include "sandbox/unit.h"
#include "service/downloader.h"
#include "service/host-launch.h"
#include "service/installer.h"
#include "service/remote-source.h"

/* The helper has limits of its own; this is for one that hangs. */
#define PATIENCE_SECONDS (DOWNLOAD_SECONDS_MAX + 30u)

struct Downloader {
        const HostContext *context;
        PluginSet *set;
        uint64_t n_units;

        PluginJob *job; /* that waits; NULL: nothing is fetched */
        RemoteSource *source;
        SandboxUnit *unit;
        int channel, file;
        char *path; /* of the file */
        sd_event_source *input, *patience;
        GByteArray *pending; /* of a message that has not come whole */
        uint64_t n_bytes, total;
};

static void downloader_reset(Downloader *downloader) {
        downloader->job = NULL;
        downloader->input = sd_event_source_disable_unref(downloader->input);
        downloader->patience = sd_event_source_disable_unref(downloader->patience);
        downloader->unit = sandbox_unit_free(downloader->unit);
        downloader->source = remote_source_free(downloader->source);
        close_fd(&downloader->channel);
        close_fd(&downloader->file);
        if (downloader->path)
                (void) unlink(downloader->path);
        g_clear_pointer(&downloader->path, g_free);
        g_byte_array_set_size(downloader->pending, 0);
        downloader->n_bytes = downloader->total = 0;
}

static void fail(Downloader *downloader, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void fail(Downloader *downloader, const char *name, const char *format, ...) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        PluginJob *job = downloader->job;
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        (void) errors_set(&error, name, "%s", text);
        downloader_reset(downloader);
        plugin_job_take_download(job, NULL, &error);
}

/* From here on the file is the job's. */
static void succeed(Downloader *downloader) {
        g_autofree char *path = g_steal_pointer(&downloader->path);
        PluginJob *job = downloader->job;

        downloader_reset(downloader);
        plugin_job_take_download(job, path, NULL);
}

/* What the helper says is a kind and a number; the words are ours, and the address is shown without its query. */
static void take_end(Downloader *downloader, const DownloadEnd *end) {
        g_autofree char *shown = g_strdup(downloader->source->shown);

        switch ((DownloadKind) end->kind) {
        case DOWNLOAD_OK:
                succeed(downloader);
                break;
        case DOWNLOAD_UNREACHABLE:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s can't be reached: there is no such host, or nobody answers there.", shown);
                break;
        case DOWNLOAD_UNTRUSTED:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s can't be trusted: its certificate is not good.", shown);
                break;
        case DOWNLOAD_STATUS:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s is not there: the server answered with status %u.", shown, end->number);
                break;
        case DOWNLOAD_REDIRECTS:
                fail(downloader, ERROR_DOWNLOAD_FAILED,
                     "%s leads on more than %u times, or to where bundles are not fetched from.", shown, DOWNLOAD_REDIRECTS_MAX);
                break;
        case DOWNLOAD_TOO_LARGE:
                fail(downloader, ERROR_TOO_LARGE, "%s is larger than %zu bytes.", shown, DOWNLOAD_BYTES_MAX);
                break;
        case DOWNLOAD_TOO_SLOW:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s comes too slowly, or not at all.", shown);
                break;
        case DOWNLOAD_BROKEN:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s ended before its end.", shown);
                break;
        default:
                fail(downloader, ERROR_DOWNLOAD_FAILED, "%s can't be fetched (libcurl error %u).", shown, end->number);
                break;
        }
}

static int write_all(int fd, const uint8_t *data, size_t size) {
        while (size > 0) {
                ssize_t n = write(fd, data, size);

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0) {
                        data += n;
                        size -= (size_t) n;
                }
        }
        return 0;
}

/* Returns false when the download is over. */
static bool take_data(Downloader *downloader, const uint8_t *data, uint32_t size) {
        int r;

        downloader->n_bytes += size;
        if (downloader->n_bytes > DOWNLOAD_BYTES_MAX) {
                fail(downloader, ERROR_TOO_LARGE, "%s is larger than %zu bytes.", downloader->source->shown, DOWNLOAD_BYTES_MAX);
                return false;
        }
        r = write_all(downloader->file, data, size);
        if (r < 0) {
                fail(downloader, ERROR_IO, "What was fetched can't be written: %s.", g_strerror(-r));
                return false;
        }
        plugin_job_set_progress(downloader->job, downloader->n_bytes, downloader->total);
        return true;
}

static bool take_message(Downloader *downloader, const DownloadHeader *header, const uint8_t *data) {
        DownloadEnd end;

        switch (header->letter) {
        case DOWNLOAD_TOTAL:
                if (header->size != sizeof downloader->total)
                        break;
                memcpy(&downloader->total, data, sizeof downloader->total);
                return true;
        case DOWNLOAD_DATA:
                return take_data(downloader, data, header->size);
        case DOWNLOAD_END:
                if (header->size != sizeof end)
                        break;
                memcpy(&end, data, sizeof end);
                take_end(downloader, &end);
                return false;
        default:
                break;
        }
        fail(downloader, ERROR_DOWNLOAD_FAILED, "The download helper does not keep to its words.");
        return false;
}

/* All messages that have come whole. Returns false when the download is over. */
static bool take_pending(Downloader *downloader) {
        size_t at = 0;

        while (downloader->pending->len - at >= sizeof(DownloadHeader)) {
                DownloadHeader header;

                memcpy(&header, downloader->pending->data + at, sizeof header);
                if (header.size > DOWNLOAD_CHUNK_BYTES) {
                        fail(downloader, ERROR_DOWNLOAD_FAILED, "The download helper does not keep to its words.");
                        return false;
                }
                if (downloader->pending->len - at < sizeof header + header.size)
                        break;
                if (!take_message(downloader, &header, downloader->pending->data + at + sizeof header))
                        return false;
                at += sizeof header + header.size;
        }
        if (at > 0)
                g_byte_array_remove_range(downloader->pending, 0, (guint) at);
        return true;
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Downloader *downloader = userdata;
        uint8_t buffer[DOWNLOAD_CHUNK_BYTES];
        ssize_t n = read(fd, buffer, sizeof buffer);

        (void) source;
        (void) revents;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        if (n > 0) {
                g_byte_array_append(downloader->pending, buffer, (guint) n);
                (void) take_pending(downloader);
                return 0;
        }
        /* Its unit tells better why it ended, when it never ran. */
        downloader->input = sd_event_source_disable_unref(downloader->input);
        if (!downloader->unit || sandbox_unit_is_running(downloader->unit))
                fail(downloader, ERROR_DOWNLOAD_FAILED, "The download helper ended before it was done.");
        return 0;
}

static int on_patience(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) source;
        (void) usec;
        fail(userdata, ERROR_DOWNLOAD_FAILED, "The download helper does not answer.");
        return 0;
}

static void on_unit_started(SandboxUnit *unit, void *userdata) {
        (void) unit;
        (void) userdata;
}

static void on_unit_failed(SandboxUnit *unit, const UnitFailure *failure, void *userdata) {
        (void) unit;
        fail(userdata, ERROR_DOWNLOAD_FAILED, "The download helper can't be started: %s", failure->cause);
}

/* What it wrote last may still be unread; the end of its channel comes right after. */
static void on_unit_stopped(SandboxUnit *unit, const UnitStop *stop, void *userdata) {
        Downloader *downloader = userdata;

        (void) unit;
        (void) stop;
        assert(unit == downloader->unit);
        downloader->unit = sandbox_unit_free(downloader->unit);
        if (!downloader->input)
                fail(downloader, ERROR_DOWNLOAD_FAILED, "The download helper ended before it was done.");
}

static const SandboxUnitEvents unit_events = {
        .started = on_unit_started,
        .failed = on_unit_failed,
        .stopped = on_unit_stopped,
};

static char *find_helper(const Downloader *downloader) {
        g_autofree char *folder = g_path_get_dirname(downloader->context->launcher_path);

        return g_build_filename(folder, DOWNLOAD_PROGRAM, NULL);
}

static int start_unit(Downloader *downloader, int theirs, sd_bus_error *reterr) {
        static const char *const environment[] = { "PATH=/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", NULL };
        const char *certificates = downloader->context->config->certificates;
        const char *const arguments[] = { certificates ? SANDBOX_CERTIFICATES_PATH : NULL, NULL };
        g_autofree char *helper = find_helper(downloader), *name = NULL, *binds_to = host_own_unit(downloader->context);
        int r;

        /* A serial of the clock: units of a service that was killed may still be there. */
        r = unit_name_for_host("download", (uint64_t) g_get_real_time() / 1000 + downloader->n_units++, &name);
        if (r < 0) {
                (void) close(theirs);
                return r;
        }

        const SandboxSpec spec = {
                .unit = name,
                .description = "Download of a bundle of extensions",
                .plugin_id = "download",
                .binds_to = binds_to,
                .lifeline = binds_to ? NULL : downloader->context->lifeline,
                .user = downloader->context->user,
                .launcher = helper,
                .arguments = arguments,
                .environment = environment,
                .certificates = certificates,
                .network = true,
                .memory_bytes = DOWNLOAD_MEMORY_BYTES,
                .data_bytes = DOWNLOAD_MEMORY_BYTES,
                .tasks = DOWNLOAD_TASKS_MAX,
        };

        return sandbox_unit_start(downloader->context->manager, &spec, theirs, &unit_events, downloader, &downloader->unit, reterr);
}

static int make_file(Downloader *downloader, sd_bus_error *reterr) {
        _cleanup_close_ int home = codewhale_home_make(downloader->context->home, HOME_ROOT);

        if (home < 0)
                return errors_set(reterr, ERROR_IO, "There is no place for what is fetched: %s.", codewhale_home_explain(home));
        downloader->path = g_build_filename(
                        codewhale_home_get_path(downloader->context->home, HOME_ROOT), INSTALL_FETCHED_PREFIX "XXXXXX", NULL);
        downloader->file = g_mkstemp_full(downloader->path, O_RDWR | O_CLOEXEC, 0600);
        if (downloader->file >= 0)
                return 0;

        g_clear_pointer(&downloader->path, g_free);
        return errors_set(reterr, ERROR_IO, "There is no place for what is fetched: %s.", g_strerror(errno));
}

static int start_helper(Downloader *downloader, sd_bus_error *reterr) {
        const char *url = downloader->source->url;
        int pair[2], r;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return errors_set(reterr, ERROR_IO, "No channel for the download: %s.", g_strerror(errno));
        downloader->channel = pair[0];
        /* A fresh socket takes this much at once; the end of the address is the end of what we say. */
        if (send(pair[0], url, strlen(url), MSG_NOSIGNAL) != (ssize_t) strlen(url) || shutdown(pair[0], SHUT_WR) < 0 ||
                        fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0) {
                (void) close(pair[1]);
                return errors_set(reterr, ERROR_IO, "No channel for the download: %s.", g_strerror(errno));
        }
        r = start_unit(downloader, pair[1], reterr);
        if (r < 0)
                return r;

        r = sd_event_add_io(downloader->context->event, &downloader->input, downloader->channel, EPOLLIN, on_input, downloader);
        if (r >= 0)
                r = sd_event_add_time_relative(downloader->context->event, &downloader->patience, CLOCK_MONOTONIC,
                                PATIENCE_SECONDS * UINT64_C(1000000), 0, on_patience, downloader);
        return r < 0 ? errors_set(reterr, ERROR_IO, "No place in the loop: %s.", g_strerror(-r)) : 0;
}

static int downloader_begin(PluginJob *job, const char *text, bool approved, void *userdata, sd_bus_error *reterr) {
        Downloader *downloader = userdata;
        const Config *config = downloader->context->config;
        g_autoptr(RemoteSource) source = NULL;
        int r;

        assert(!downloader->job); /* jobs run one by one */

        if (config_get_unreadable(config))
                return errors_set(reterr, ERROR_NETWORK_DENIED, "Nothing is fetched while the configuration can't be read: %s",
                                  config_get_unreadable(config));
        r = remote_source_parse(text, &source, reterr);
        if (r >= 0)
                r = remote_source_check_policy(source, config->network, approved, reterr);
        if (r < 0)
                return r;

        downloader->job = job;
        downloader->source = g_steal_pointer(&source);
        r = make_file(downloader, reterr);
        if (r >= 0)
                r = start_helper(downloader, reterr);
        if (r < 0)
                downloader_reset(downloader);
        return r;
}

static void downloader_forget(PluginJob *job, void *userdata) {
        Downloader *downloader = userdata;

        if (downloader->job == job)
                downloader_reset(downloader);
}

static const PluginDownloader plugin_downloader = {
        .begin = downloader_begin,
        .forget = downloader_forget,
};

Downloader *downloader_new(const HostContext *context, PluginSet *set) {
        Downloader *downloader = g_new0(Downloader, 1);

        downloader->context = context;
        downloader->set = set;
        downloader->channel = downloader->file = -EBADF;
        downloader->pending = g_byte_array_new();
        plugin_set_set_downloader(set, &plugin_downloader, downloader);
        return downloader;
}

Downloader *downloader_free(Downloader *downloader) {
        if (!downloader)
                return NULL;

        plugin_set_set_downloader(downloader->set, NULL, NULL);
        downloader_reset(downloader);
        g_byte_array_unref(downloader->pending);
        g_free(downloader);
        return NULL;
}
