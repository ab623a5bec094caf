/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/launcher/checks.h"

static void check_families(Findings *findings) {
        static const struct {
                const char *name;
                int family;
                int type;
        } families[] = {
                { "AF_UNIX", AF_UNIX, SOCK_STREAM },
                { "AF_INET", AF_INET, SOCK_STREAM },
                { "AF_INET6", AF_INET6, SOCK_STREAM },
                { "AF_NETLINK", AF_NETLINK, SOCK_RAW },
                { "AF_PACKET", AF_PACKET, SOCK_RAW },
                { "AF_VSOCK", AF_VSOCK, SOCK_STREAM },
                { "AF_ALG", AF_ALG, SOCK_SEQPACKET },
        };

        for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
                int fd = socket(families[i].family, families[i].type | SOCK_CLOEXEC, 0);

                if (fd < 0)
                        continue;
                (void) close(fd);
                findings_add(findings, "network", true, false, "an %s socket could be made",
                                families[i].name);
                return;
        }
        findings_add(findings, "network", true, true, "no socket can be made");
}

/* @abstract: the name begins with NUL instead. Return: whether somebody answered. */
static bool can_connect(const char *name, bool abstract) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        size_t size = strlen(name), at = abstract ? 1 : 0;
        int fd;
        bool connected = false;

        if (at + size >= sizeof(address.sun_path))
                return false;
        memcpy(address.sun_path + at, name, size);

        for (int type = SOCK_STREAM; !connected && type <= SOCK_DGRAM; type++) {
                fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
                if (fd < 0)
                        continue;
                /* a full backlog says EAGAIN: somebody is there */
                connected = connect(fd, (struct sockaddr *) &address,
                                            (socklen_t) (offsetof(struct sockaddr_un, sun_path) + at +
                                                            size)) == 0 ||
                            errno == EAGAIN || errno == EPROTOTYPE;
                (void) close(fd);
        }
        return connected;
}

static bool is_there(const char *path) {
        struct stat st;

        return stat(path, &st) == 0;
}

/* Connecting fails already because no socket can be made; so the path must not be there either. */
static void check_unreachable(Findings *findings, const char *name, const Words *sockets, bool abstract) {
        for (size_t i = 0; i < sockets->n; i++)
                if (can_connect(sockets->words[i], abstract) || (!abstract && is_there(sockets->words[i]))) {
                        findings_add(findings, name, true, false, "%s can be reached", sockets->words[i]);
                        return;
                }
        findings_add(findings, name, true, true, "%zu sockets", sockets->n);
}

void checks_sockets(Findings *findings, const Options *options) {
        check_families(findings);
        check_unreachable(findings, "sockets", &options->sockets, false);
        check_unreachable(findings, "abstract-sockets", &options->abstract, true);
}
