/* SPDX-License-Identifier: MIT */
#pragma once

/* Internet addresses: which of them are the world's, and which lead into this machine or the networks around it, where a
 * program that trusts its neighbours may listen. By number alone; no name is looked up. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

typedef enum AddressKind {
        ADDRESS_PUBLIC,
        ADDRESS_LOOPBACK, /* 127.0.0.0/8, ::1 */
        ADDRESS_PRIVATE,  /* everything else: private, link-local, shared, multicast, reserved, or of no internet protocol */
        _ADDRESS_KIND_MAX,
        _ADDRESS_KIND_INVALID = -EINVAL,
} AddressKind;

/** address_kind() - an IPv4 address within an IPv6 one (mapped, NAT64, 6to4) counts as what it leads to */
AddressKind address_kind(const struct sockaddr *address);

typedef struct AddressPrefix {
        uint8_t bytes[16];
        unsigned bits;
        int family; /* AF_INET or AF_INET6 */
} AddressPrefix;

/**
 * address_prefix_parse() - "10.1.2.3", "192.168.0.0/16", "fd00::/8"
 *
 * Return: 0; -EINVAL, also when bits behind the prefix are set, for then something else was meant.
 */
int address_prefix_parse(const char *text, AddressPrefix *ret);

/** address_prefix_contains() - whether the address, or the IPv4 address that is mapped into it, has the prefix */
bool address_prefix_contains(const AddressPrefix *prefix, const struct sockaddr *address);
