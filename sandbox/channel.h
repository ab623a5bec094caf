/* SPDX-License-Identifier: MIT */
#pragma once

/* The service's end of the channel to one host: frames (contract 3.15) on one end of a socketpair, driven by
 * sd-event. It knows nothing of JSON. Nothing here blocks; both directions are bounded. */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <systemd/sd-event.h>

typedef struct Channel Channel;

typedef struct ChannelEvents {
        /* One whole frame has arrived. @payload is valid during the call only and not ended by NUL. */
        void (*frame)(Channel *channel, const uint8_t *payload, size_t size, void *userdata);

        /* The channel has ended; comes exactly once, never from within channel_send() or channel_free(), and
         * is the last event. @error: 0 for an end of input between frames; -EBADMSG for bytes that are no
         * frame; -EMSGSIZE for a declared length over the limit; -EPIPE for an end inside a frame or a peer
         * that no longer reads; another -errno. @reason: static words for a person. */
        void (*closed)(Channel *channel, int error, const char *reason, void *userdata);
} ChannelEvents;

/**
 * channel_new() - run the channel on one end of a connected stream socket
 * @event:    the loop; a reference is kept
 * @fd:       the socket; taken on success, and made non-blocking
 * @events:   static table; both entries must be there
 *
 * Either callback may free the channel. Return: 0 or -errno.
 */
int channel_new(sd_event *event, int fd, const ChannelEvents *events, void *userdata, Channel **ret);

/** channel_free() - close the socket, drop what is queued, raise no event any more; takes NULL, returns NULL
 */
Channel *channel_free(Channel *channel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Channel, channel_free)

/**
 * channel_send() - send one frame; written at once when the socket takes it, else copied and queued
 *
 * Return: 0; -EMSGSIZE over FRAME_PAYLOAD_BYTES_MAX; -ENOBUFS when FRAME_QUEUE_MAX frames or
 * FRAME_QUEUE_BYTES_MAX bytes wait already; -ENOTCONN after the end; -EPIPE when the peer is gone ("closed"
 * follows from the loop).
 */
int channel_send(Channel *channel, const void *payload, size_t size);

/**
 * channel_send_iov() - channel_send() for a payload in pieces, so that text which only passes through is not
 * copied
 * @iov: the pieces, at most CHANNEL_PIECES_MAX; they may be empty
 */
#define CHANNEL_PIECES_MAX 15u
int channel_send_iov(Channel *channel, const struct iovec *iov, size_t n_iov);

/**
 * channel_send_due() - channel_send_iov() for what must not get lost and is counted elsewhere
 *
 * Answers, cancellations and the heartbeat: there are never more of them than requests in flight, so a full queue takes
 * them too. While half of the queue is full nothing is read from the peer, so that it can't ask for more.
 */
int channel_send_due(Channel *channel, const struct iovec *iov, size_t n_iov);

/**
 * channel_catch_up() - hand over now what the peer wrote already, up to 1 MiB of it
 *
 * For whoever is about to say that an answer is late: it may lie in the socket, when our own loop was held up.
 * May free the channel, as every frame may.
 */
void channel_catch_up(Channel *channel);

/**
 * channel_hold() - stop reading, or go on; what the peer writes meanwhile waits in its socket, and then with it
 *
 * May be called from within a frame's callback: no further one is handed over. A peer that goes away lets go.
 */
void channel_hold(Channel *channel, bool held);

/** channel_queued() - frames that wait because the peer does not read */
size_t channel_queued(const Channel *channel);

/**
 * channel_blocked_since() - since when (CLOCK_MONOTONIC, microseconds) the peer has taken no byte of what
 * waits
 *
 * Return: 0 when nothing waits. A channel that stays blocked counts like a missing answer to a ping (F09).
 */
uint64_t channel_blocked_since(const Channel *channel);

/** channel_fd() - the socket, for SO_PEERCRED and tests; -EBADF after the end */
int channel_fd(const Channel *channel);
