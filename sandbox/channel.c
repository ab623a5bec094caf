/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/limits.h"
#include "sandbox/channel.h"
#include "sandbox/frame.h"

/* Holds several ordinary frames, so that one read serves them all; a larger frame gets a buffer of its own
 * size, which is given back after it. */
#define BUFFER_BYTES KIB(64)
#define CATCH_UP_READS_MAX 16

/* A frame, or the rest of one, that the socket did not take. */
typedef struct Pending {
        struct Pending *next;
        size_t size;
        size_t sent;
        uint8_t bytes[];
} Pending;

struct Channel {
        unsigned n_ref; /* the owner's, and one while a callback runs, so that the callback may free the
                           channel */
        int fd;
        sd_event *event;
        sd_event_source *io;
        sd_event_source *defer; /* announces a write that failed */
        sd_event_source *resume; /* hands over what was held in the buffer */

        const ChannelEvents *events;
        void *userdata;
        bool closed; /* "closed" was raised, or the owner let go */
        int write_error;
        bool held; /* nothing is handed over */
        bool choked; /* nor is it while so much waits for the peer: what it asks for only makes more of that */

        uint8_t *buffer;
        size_t buffer_size;
        size_t filled;

        Pending *first, *last;
        size_t n_pending;
        size_t pending_bytes;
        uint64_t blocked_since;
};

static void channel_drop_pending(Channel *channel) {
        while (channel->first) {
                Pending *pending = channel->first;

                channel->first = pending->next;
                g_free(pending);
        }
        channel->last = NULL;
        channel->n_pending = 0;
        channel->pending_bytes = 0;
        channel->blocked_since = 0;
}

static void channel_shut(Channel *channel) {
        channel->closed = true;
        channel->io = sd_event_source_disable_unref(channel->io);
        channel->defer = sd_event_source_disable_unref(channel->defer);
        channel->resume = sd_event_source_disable_unref(channel->resume);
        close_fd(&channel->fd);
        channel_drop_pending(channel);
}

static void channel_unref(Channel *channel) {
        assert(channel->n_ref > 0);
        if (--channel->n_ref > 0)
                return;

        channel_shut(channel);
        sd_event_unref(channel->event);
        g_free(channel->buffer);
        g_free(channel);
}
Channel *channel_free(Channel *channel) {
        if (!channel)
                return NULL;

        channel_shut(channel);
        channel_unref(channel);
        return NULL;
}

static void channel_end(Channel *channel, int error, const char *reason) {
        if (channel->closed)
                return;

        channel_shut(channel);
        channel->events->closed(channel, error, reason, channel->userdata);
}

/* People who see this have connected something that speaks another framing; say which. */
static const char *describe_bad_header(const uint8_t *header, int error) {
        if (error == -EMSGSIZE)
                return "a frame was announced that is larger than the limit";
        if (memcmp(header, "Content-", 8) == 0)
                return "Content-Length framing was received instead of CWX1 frames";
        if (header[0] == '{' || header[0] == '[')
                return "JSON without a CWX1 frame header was received";

        return "bytes were received that are no CWX1 frame";
}

/* Makes room for a frame of @need bytes at the buffer's start; @need is within the limit. */
static void channel_reserve(Channel *channel, size_t need) {
        if (need <= channel->buffer_size)
                return;

        channel->buffer = g_realloc(channel->buffer, need);
        channel->buffer_size = need;
}

static bool channel_takes(const Channel *channel) {
        return !channel->held && !channel->choked;
}

/* Hands over every whole frame in the buffer and moves what is left to its start. */
static void channel_consume(Channel *channel) {
        size_t at = 0, need = 0;

        while (!channel->closed && channel_takes(channel) && channel->filled - at >= FRAME_HEADER_BYTES) {
                uint32_t size = 0;
                int r;

                r = frame_read_header(channel->buffer + at, &size);
                if (r < 0) {
                        channel_end(channel, r, describe_bad_header(channel->buffer + at, r));
                        return;
                }
                need = FRAME_HEADER_BYTES + size;
                if (channel->filled - at < need)
                        break;

                channel->events->frame(
                                channel, channel->buffer + at + FRAME_HEADER_BYTES, size, channel->userdata);
                at += need;
                need = 0;
        }
        if (channel->closed)
                return;

        channel->filled -= at;
        if (channel->filled > 0 && at > 0)
                memmove(channel->buffer, channel->buffer + at, channel->filled);
        if (MAX(need, channel->filled) <= BUFFER_BYTES && channel->buffer_size > BUFFER_BYTES) {
                channel->buffer = g_realloc(channel->buffer, BUFFER_BYTES);
                channel->buffer_size = BUFFER_BYTES;
        }
        channel_reserve(channel, need);
}

/* One read. Return: whether it brought anything. */
static bool channel_read(Channel *channel) {
        ssize_t n = recv(channel->fd, channel->buffer + channel->filled,
                        channel->buffer_size - channel->filled, MSG_DONTWAIT);

        if (n > 0) {
                channel->filled += (size_t) n;
                channel_consume(channel);
                return true;
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;

        /* ECONNRESET says that the peer closed without having read everything we sent: an end like any
         * other. */
        if (n < 0 && errno != ECONNRESET)
                channel_end(channel, -errno, "reading from the channel failed");
        else if (channel->filled == 0)
                channel_end(channel, 0, "end of input");
        else if (channel->filled < FRAME_HEADER_BYTES)
                channel_end(channel, -EPIPE, "end of input inside a frame header");
        else
                channel_end(channel, -EPIPE, "end of input inside a frame");
        return false;
}

static ssize_t channel_write(Channel *channel, const struct iovec *iov, size_t n_iov) {
        struct msghdr message = {
                .msg_iov = (struct iovec *) iov,
                .msg_iovlen = n_iov,
        };
        ssize_t n = sendmsg(channel->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0)
                return n;
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

static void pending_advance(Channel *channel, size_t n) {
        while (channel->first && n >= channel->first->size - channel->first->sent) {
                Pending *pending = channel->first;

                n -= pending->size - pending->sent;
                channel->first = pending->next;
                channel->n_pending--;
                channel->pending_bytes -= pending->size;
                g_free(pending);
        }
        if (channel->first)
                channel->first->sent += n;
        else
                channel->last = NULL;
}

static void channel_update_events(Channel *channel) {
        (void) sd_event_source_set_io_events(
                        channel->io, (channel_takes(channel) ? EPOLLIN : 0u) | (channel->first ? EPOLLOUT : 0u));
}

static int on_resume(sd_event_source *source, void *userdata) {
        Channel *channel = userdata;

        (void) source;
        channel->n_ref++;
        if (channel_takes(channel))
                channel_consume(channel);
        channel_unref(channel);
        return 0;
}

/* To be called when it takes something again, or does no more. */
static void channel_turn(Channel *channel) {
        channel_update_events(channel);
        if (!channel_takes(channel) || channel->filled == 0)
                return;
        /* Whole frames may be in the buffer, about which the socket says nothing. */
        if (!channel->resume && sd_event_add_defer(channel->event, &channel->resume, on_resume, channel) < 0)
                channel_consume(channel);
        else
                (void) sd_event_source_set_enabled(channel->resume, SD_EVENT_ONESHOT);
}

static void channel_look_at_queue(Channel *channel) {
        bool choked = channel->n_pending >= FRAME_QUEUE_MAX / 2 || channel->pending_bytes >= FRAME_QUEUE_BYTES_MAX / 2;

        if (channel->choked == choked)
                return;
        channel->choked = choked;
        channel_turn(channel);
}

static int on_write_failed(sd_event_source *source, void *userdata) {
        Channel *channel = userdata;

        (void) source;

        /* What the peer wrote before it went away is still delivered: reading ends the channel when that is
         * done. */
        channel->n_ref++;
        channel->held = channel->choked = false;
        channel_consume(channel);
        for (int i = 0; i < 1024 && !channel->closed; i++)
                if (!channel_read(channel))
                        break;
        channel_end(channel, -EPIPE, "the peer no longer reads");
        channel_unref(channel);
        return 0;
}

static void channel_fail_write(Channel *channel, int error) {
        G_GNUC_UNUSED int r;

        channel->write_error = error;
        channel_drop_pending(channel);
        if (channel->defer)
                return;
        r = sd_event_add_defer(channel->event, &channel->defer, on_write_failed, channel);
        assert(r >= 0 || r == -ENOMEM);
}

static void channel_flush(Channel *channel) {
        struct iovec iov[CHANNEL_PIECES_MAX];
        size_t n_iov = 0;
        ssize_t n;

        for (Pending *pending = channel->first; pending && n_iov < G_N_ELEMENTS(iov);
                        pending = pending->next)
                iov[n_iov++] = (struct iovec){
                        .iov_base = pending->bytes + pending->sent,
                        .iov_len = pending->size - pending->sent,
                };

        n = channel_write(channel, iov, n_iov);
        if (n < 0) {
                channel_fail_write(channel, (int) n);
                return;
        }
        if (n > 0)
                (void) sd_event_now(channel->event, CLOCK_MONOTONIC, &channel->blocked_since);
        pending_advance(channel, (size_t) n);
        if (!channel->first) {
                channel->blocked_since = 0;
                channel_update_events(channel);
        }
        channel_look_at_queue(channel);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        Channel *channel = userdata;

        (void) source;
        (void) fd;

        channel->n_ref++;
        if (revents & EPOLLOUT)
                channel_flush(channel);
        /* The peer is gone: holding back what it wrote would only make the loop spin. */
        if (!channel->closed && !channel_takes(channel) && (revents & (EPOLLHUP | EPOLLERR))) {
                channel_drop_pending(channel);
                channel->held = channel->choked = false;
                channel_turn(channel);
        } else if (!channel->closed && channel_takes(channel) && (revents & (EPOLLIN | EPOLLHUP | EPOLLERR)))
                (void) channel_read(channel);
        channel_unref(channel);
        return 0;
}

/* Queues header and payload without their first @skip bytes, which the socket took. */
static void channel_queue(
                Channel *channel, const struct iovec *iov, size_t n_iov, size_t total, size_t skip) {
        Pending *pending = g_malloc(sizeof(*pending) + total - skip);
        size_t at = 0;

        *pending = (Pending){ .size = total - skip };
        for (size_t i = 0; i < n_iov; i++) {
                size_t n = iov[i].iov_len;
                size_t taken = MIN(skip, n);

                skip -= taken;
                if (n == taken)
                        continue;
                memcpy(pending->bytes + at, (const uint8_t *) iov[i].iov_base + taken, n - taken);
                at += n - taken;
        }

        if (channel->last)
                channel->last->next = pending;
        else {
                channel->first = pending;
                (void) sd_event_now(channel->event, CLOCK_MONOTONIC, &channel->blocked_since);
                channel_update_events(channel);
        }
        channel->last = pending;
        channel->n_pending++;
        channel->pending_bytes += pending->size;
        channel_look_at_queue(channel);
}

static int channel_send_pieces(Channel *channel, const struct iovec *iov, size_t n_iov, bool due) {
        struct iovec all[CHANNEL_PIECES_MAX + 1];
        uint8_t header[FRAME_HEADER_BYTES];
        size_t size = 0;
        ssize_t n = 0;

        assert(channel);
        assert(n_iov <= CHANNEL_PIECES_MAX);

        if (channel->closed)
                return -ENOTCONN;
        if (channel->write_error < 0)
                return -EPIPE;

        for (size_t i = 0; i < n_iov; i++) {
                if (iov[i].iov_len > FRAME_PAYLOAD_BYTES_MAX - size)
                        return -EMSGSIZE;
                size += iov[i].iov_len;
                all[i + 1] = iov[i];
        }
        if (!due && (channel->n_pending >= FRAME_QUEUE_MAX || channel->pending_bytes + size > FRAME_QUEUE_BYTES_MAX))
                return -ENOBUFS;

        frame_write_header(header, (uint32_t) size);
        all[0] = (struct iovec){ .iov_base = header, .iov_len = sizeof(header) };
        if (!channel->first) {
                n = channel_write(channel, all, n_iov + 1);
                if (n < 0) {
                        channel_fail_write(channel, (int) n);
                        return -EPIPE;
                }
        }
        if ((size_t) n < sizeof(header) + size)
                channel_queue(channel, all, n_iov + 1, sizeof(header) + size, (size_t) n);

        return 0;
}

int channel_send_iov(Channel *channel, const struct iovec *iov, size_t n_iov) {
        return channel_send_pieces(channel, iov, n_iov, false);
}

int channel_send_due(Channel *channel, const struct iovec *iov, size_t n_iov) {
        return channel_send_pieces(channel, iov, n_iov, true);
}

int channel_send(Channel *channel, const void *payload, size_t size) {
        struct iovec iov = { .iov_base = (void *) payload, .iov_len = size };

        return channel_send_iov(channel, &iov, 1);
}

void channel_catch_up(Channel *channel) {
        assert(channel);

        channel->n_ref++;
        for (int i = 0; i < CATCH_UP_READS_MAX && !channel->closed && channel_takes(channel); i++)
                if (!channel_read(channel))
                        break;
        channel_unref(channel);
}

void channel_hold(Channel *channel, bool held) {
        assert(channel);
        if (channel->closed || channel->held == held)
                return;

        channel->held = held;
        channel_turn(channel);
}

size_t channel_queued(const Channel *channel) {
        assert(channel);
        return channel->n_pending;
}

uint64_t channel_blocked_since(const Channel *channel) {
        assert(channel);
        return channel->blocked_since;
}

int channel_fd(const Channel *channel) {
        assert(channel);
        return channel->fd;
}

static int fd_set_flags(int fd) {
        int flags = fcntl(fd, F_GETFL);

        if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
                return -errno;

        return 0;
}

int channel_new(sd_event *event, int fd, const ChannelEvents *events, void *userdata, Channel **ret) {
        Channel *channel;
        int r;

        assert(event);
        assert(fd >= 0);
        assert(events && events->frame && events->closed);
        assert(ret);

        r = fd_set_flags(fd);
        if (r < 0)
                return r;

        channel = g_new(Channel, 1);
        *channel = (Channel){
                .n_ref = 1,
                .fd = fd,
                .event = sd_event_ref(event),
                .events = events,
                .userdata = userdata,
                .buffer = g_malloc(BUFFER_BYTES),
                .buffer_size = BUFFER_BYTES,
        };

        r = sd_event_add_io(event, &channel->io, fd, EPOLLIN, on_io, channel);
        if (r < 0) {
                channel->fd = -EBADF; /* stays the caller's */
                channel_free(channel);
                return r;
        }

        *ret = channel;
        return 0;
}
