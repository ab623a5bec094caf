/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/address.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The registries of special purposes (RFC 6890 and what came after), for what is not globally reachable. */
static const char *const private_v4[] = {
        "0.0.0.0/8",       "10.0.0.0/8",   "100.64.0.0/10", "169.254.0.0/16",  "172.16.0.0/12",  "192.0.0.0/24",
        "192.0.2.0/24",    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4",     "240.0.0.0/4",
};

/* Of IPv6 only 2000::/3 is given out; these are the holes in it. */
static const char *const private_v6[] = { "2001::/23", "2001:db8::/32", "3fff::/20" };

/* Where an IPv4 address stands in an IPv6 one. */
static const struct {
        const char *prefix;
        size_t at;
} embedded[] = {
        { "::ffff:0:0/96", 12 }, { "64:ff9b::/96", 12 }, { "2002::/16", 2 },
};

static bool has_prefix(const uint8_t *bytes, const AddressPrefix *prefix) {
        unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;
        uint8_t mask = (uint8_t) (0xff << (8 - rest));

        return memcmp(bytes, prefix->bytes, whole) == 0 && (rest == 0 || ((bytes[whole] ^ prefix->bytes[whole]) & mask) == 0);
}

static bool is_in(const uint8_t *bytes, const char *text) {
        AddressPrefix prefix = {};
        int r = address_prefix_parse(text, &prefix);

        assert(r >= 0);
        return r >= 0 && has_prefix(bytes, &prefix);
}

static AddressKind kind_v4(const uint8_t *bytes) {
        if (bytes[0] == 127)
                return ADDRESS_LOOPBACK;
        for (size_t i = 0; i < COUNT(private_v4); i++)
                if (is_in(bytes, private_v4[i]))
                        return ADDRESS_PRIVATE;
        return ADDRESS_PUBLIC;
}

static AddressKind kind_v6(const uint8_t *bytes) {
        if (is_in(bytes, "::1"))
                return ADDRESS_LOOPBACK;
        for (size_t i = 0; i < COUNT(embedded); i++)
                if (is_in(bytes, embedded[i].prefix))
                        return kind_v4(bytes + embedded[i].at);
        for (size_t i = 0; i < COUNT(private_v6); i++)
                if (is_in(bytes, private_v6[i]))
                        return ADDRESS_PRIVATE;
        return is_in(bytes, "2000::/3") ? ADDRESS_PUBLIC : ADDRESS_PRIVATE;
}

static const uint8_t *bytes_of(const struct sockaddr *address) {
        if (address->sa_family == AF_INET)
                return (const uint8_t *) &((const struct sockaddr_in *) address)->sin_addr;
        if (address->sa_family == AF_INET6)
                return ((const struct sockaddr_in6 *) address)->sin6_addr.s6_addr;
        return NULL;
}

AddressKind address_kind(const struct sockaddr *address) {
        const uint8_t *bytes = bytes_of(address);

        if (!bytes)
                return ADDRESS_PRIVATE;
        return address->sa_family == AF_INET ? kind_v4(bytes) : kind_v6(bytes);
}

/* A number without sign, blank or leading zero */
static int parse_bits(const char *text, unsigned max, unsigned *ret) {
        size_t length = strspn(text, "0123456789");
        unsigned long bits;

        if (length == 0 || length > 3 || text[length] != '\0' || (text[0] == '0' && length > 1))
                return -EINVAL;
        bits = strtoul(text, NULL, 10);
        if (bits > max)
                return -EINVAL;
        *ret = (unsigned) bits;
        return 0;
}

static bool ends_with_zeroes(const AddressPrefix *prefix, size_t size) {
        for (unsigned bit = prefix->bits; bit < size * 8; bit++)
                if (prefix->bytes[bit / 8] & (0x80 >> bit % 8))
                        return false;
        return true;
}

int address_prefix_parse(const char *text, AddressPrefix *ret) {
        const char *slash = strchr(text, '/');
        size_t length = slash ? (size_t) (slash - text) : strlen(text);
        AddressPrefix prefix = { .family = memchr(text, ':', length) ? AF_INET6 : AF_INET };
        size_t size = prefix.family == AF_INET6 ? 16 : 4;
        char address[INET6_ADDRSTRLEN] = "";

        if (length >= sizeof address)
                return -EINVAL;
        memcpy(address, text, length);
        if (inet_pton(prefix.family, address, prefix.bytes) != 1)
                return -EINVAL;
        prefix.bits = (unsigned) size * 8;
        if (slash && parse_bits(slash + 1, prefix.bits, &prefix.bits) < 0)
                return -EINVAL;
        if (!ends_with_zeroes(&prefix, size))
                return -EINVAL;

        *ret = prefix;
        return 0;
}

bool address_prefix_contains(const AddressPrefix *prefix, const struct sockaddr *address) {
        const uint8_t *bytes = bytes_of(address);

        if (!bytes)
                return false;
        if (address->sa_family == prefix->family)
                return has_prefix(bytes, prefix);
        return prefix->family == AF_INET && is_in(bytes, embedded[0].prefix) && has_prefix(bytes + embedded[0].at, prefix);
}
