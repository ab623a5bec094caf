/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/limits.h"
#include "sandbox/walls.h"

#define LIST(...)                                                                                           \
        (const char *const[]) {                                                                             \
                __VA_ARGS__, NULL                                                                           \
        }

/* The root holds nothing but what spec.c binds in. Shared memory and terminals of the user are in /dev even
 * with PrivateDevices=, so they are covered too; the /run that systemd brings along is writable unless
 * covered. */
#define EMPTY_DIRECTORIES                                                                                   \
        "/", "ro", "/tmp", "rw,noexec,nosuid,nodev,mode=1777,size=64M", "/run", "ro,mode=0755", "/dev/shm", \
                        "ro", "/dev/pts", "ro", "/dev/mqueue", "ro"

/* The launcher's own walls: Landlock is no part of @system-service. io_uring is, and reaches past filters. So
 * is memfd_create(): a file in memory lies on no mount, so that noexec does not hold it, and native code of
 * the plugin could be executed from it. */
#define SYSTEM_CALLS                                                                                        \
        "@system-service", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"
#define SYSTEM_CALLS_DENIED                                                                                 \
        "@resources", "@privileged", "@keyring", "io_uring_setup", "io_uring_enter", "io_uring_register",   \
                        "userfaultfd", "process_vm_readv", "process_vm_writev", "kcmp", "memfd_create"

static const Wall walls[] = {
        /* files */
        { "TemporaryFileSystem", WALL_TMPFS, true, .list = LIST(EMPTY_DIRECTORIES) },
        { "PrivateDevices", WALL_BOOLEAN, true, .number = true },
        { "ProtectProc", WALL_STRING, false, .text = "invisible" },
        { "ProcSubset", WALL_STRING, false, .text = "pid" },
        { "ProtectKernelTunables", WALL_BOOLEAN, true, .number = true },
        { "ProtectControlGroups", WALL_BOOLEAN, true, .number = true },
        /* What systemd would mount there again in thirteen parts: hardware, and every control group with the names of what the user
         * runs. "-" lets it be missing from the empty root, "+" is that root. */
        { "InaccessiblePaths", WALL_STRINGS, false, .list = LIST("-+/sys") },
        { "UMask", WALL_UINT32, true, .number = 0077 },

        /* namespaces; a user manager can do none of the above without PrivateUsers= */
        { "PrivateUsers", WALL_BOOLEAN, true, .number = true },
        { "PrivateNetwork", WALL_BOOLEAN, true, .number = true, .offline = true },
        { "PrivateIPC", WALL_BOOLEAN, true, .number = true },
        { "ProtectHostname", WALL_BOOLEAN, false, .number = true },
        { "RestrictNamespaces", WALL_UINT64, true, .number = 0 },

        /* privileges */
        { "NoNewPrivileges", WALL_BOOLEAN, true, .number = true },
        { "CapabilityBoundingSet", WALL_UINT64, true, .number = 0 },
        { "AmbientCapabilities", WALL_UINT64, true, .number = 0 },
        { "RestrictSUIDSGID", WALL_BOOLEAN, true, .number = true },
        { "KeyringMode", WALL_STRING, true, .text = "private" },

        /* the kernel; MemoryDenyWriteExecute= is missing because a JIT can't live with it */
        { "ProtectClock", WALL_BOOLEAN, false, .number = true },
        { "ProtectKernelLogs", WALL_BOOLEAN, false, .number = true },
        { "ProtectKernelModules", WALL_BOOLEAN, false, .number = true },
        { "RestrictRealtime", WALL_BOOLEAN, true, .number = true },
        { "LockPersonality", WALL_BOOLEAN, true, .number = true },
        /* None at all: the channel and the pipes to children are made by other means than socket(). */
        { "RestrictAddressFamilies", WALL_ALLOW, true, .list = LIST(NULL), .offline = true },
        { "IPAddressDeny", WALL_NETWORK, false, .offline = true },
        { "SystemCallArchitectures", WALL_STRINGS, true, .list = LIST("native") },
        { "SystemCallFilter", WALL_ALLOW, true, .list = LIST(SYSTEM_CALLS) },
        { "SystemCallFilter", WALL_DENY, true, .list = LIST(SYSTEM_CALLS_DENIED) },
        { "SystemCallErrorNumber", WALL_INT32, true, .number = EPERM },
        { "DevicePolicy", WALL_STRING, false, .text = "closed" },

        /* limits that the caller does not decide */
        { "LimitCORE", WALL_UINT64, true, .number = 0 },
        { "LimitNOFILE", WALL_UINT64, true, .number = 4096 },
        { "MemorySwapMax", WALL_UINT64, false, .number = 0 },
        { "OOMPolicy", WALL_STRING, false, .text = "kill" },
        /* The default, but said: only then is it one share of the processor for one host, however many threads it has. */
        { "CPUWeight", WALL_UINT64, false, .number = 100 },

        /* life */
        { "Type", WALL_STRING, true, .text = "exec" },
        { "KillMode", WALL_STRING, true, .text = "control-group" },
        { "SendSIGKILL", WALL_BOOLEAN, true, .number = true },
        { "TimeoutStartUSec", WALL_UINT64, true, .number = HOST_HANDSHAKE_MSEC * UINT64_C(1000) },
        { "TimeoutStopUSec", WALL_UINT64, true, .number = HOST_KILL_MSEC * UINT64_C(1000) },
        { "CollectMode", WALL_STRING, true, .text = "inactive-or-failed" },
        /* The channel replaces standard output. Unless that is called something else than standard error is,
         * systemd lets standard error follow it into the channel. */
        { "StandardOutput", WALL_STRING, true, .text = "null" },
        { "StandardError", WALL_STRING, true, .text = "journal" },
        { "LogRateLimitIntervalUSec", WALL_UINT64, false, .number = 30 * UINT64_C(1000000) },
        { "LogRateLimitBurst", WALL_UINT32, false, .number = 2000 },
};

G_STATIC_ASSERT(G_N_ELEMENTS(walls) <= 64); /* the bits of a WallSet */

/* It resolves names and connects, by the internet's protocols and nothing else. It has no JIT. */
static const Wall network_walls[] = {
        { "RestrictAddressFamilies", WALL_ALLOW, true, .list = LIST("AF_INET", "AF_INET6") },
        { "MemoryDenyWriteExecute", WALL_BOOLEAN, true, .number = true },
};

const Wall *walls_get_network(size_t *ret_n) {
        *ret_n = sizeof(network_walls) / sizeof(network_walls[0]);
        return network_walls;
}

const Wall *walls_get(size_t *ret_n) {
        assert(ret_n);

        *ret_n = G_N_ELEMENTS(walls);
        return walls;
}

static int append_strings(sd_bus_message *m, const char *const *list) {
        return sd_bus_message_append_strv(m, (char **) list);
}

static int append_filter(sd_bus_message *m, bool allow, const char *const *list) {
        int r;

        r = sd_bus_message_open_container(m, 'r', "bas");
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "b", (int) allow);
        if (r < 0)
                return r;
        r = append_strings(m, list);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}

static int append_tmpfs(sd_bus_message *m, const char *const *list) {
        int r;

        r = sd_bus_message_open_container(m, 'a', "(ss)");
        for (size_t i = 0; r >= 0 && list[i]; i += 2)
                r = sd_bus_message_append(m, "(ss)", list[i], list[i + 1]);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}

static int append_all_networks(sd_bus_message *m) {
        static const struct {
                int32_t family;
                size_t size;
        } families[] = { { AF_INET, 4 }, { AF_INET6, 16 } };
        static const uint8_t zero[16];
        int r;

        r = sd_bus_message_open_container(m, 'a', "(iayu)");
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(families); i++) {
                r = sd_bus_message_open_container(m, 'r', "iayu");
                if (r >= 0)
                        r = sd_bus_message_append(m, "i", families[i].family);
                if (r >= 0)
                        r = sd_bus_message_append_array(m, 'y', zero, families[i].size);
                if (r >= 0)
                        r = sd_bus_message_append(m, "u", (uint32_t) 0);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
        }
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}

static const char *const signatures[_WALL_TYPE_MAX] = {
        [WALL_BOOLEAN] = "b",
        [WALL_UINT32] = "u",
        [WALL_INT32] = "i",
        [WALL_UINT64] = "t",
        [WALL_STRING] = "s",
        [WALL_STRINGS] = "as",
        [WALL_ALLOW] = "(bas)",
        [WALL_DENY] = "(bas)",
        [WALL_NETWORK] = "a(iayu)",
        [WALL_TMPFS] = "a(ss)",
};

static int append_value(const Wall *wall, sd_bus_message *m) {
        switch (wall->type) {
        case WALL_BOOLEAN:
                return sd_bus_message_append(m, "b", (int) wall->number);
        case WALL_UINT32:
                return sd_bus_message_append(m, "u", (uint32_t) wall->number);
        case WALL_INT32:
                return sd_bus_message_append(m, "i", (int32_t) wall->number);
        case WALL_UINT64:
                return sd_bus_message_append(m, "t", wall->number);
        case WALL_STRING:
                return sd_bus_message_append(m, "s", wall->text);
        case WALL_STRINGS:
                return append_strings(m, wall->list);
        case WALL_ALLOW:
        case WALL_DENY:
                return append_filter(m, wall->type == WALL_ALLOW, wall->list);
        case WALL_NETWORK:
                return append_all_networks(m);
        case WALL_TMPFS:
                return append_tmpfs(m, wall->list);
        default:
                assert(false);
                return -EINVAL;
        }
}

int wall_append(const Wall *wall, sd_bus_message *m) {
        int r;

        assert(wall);
        assert(m);

        r = sd_bus_message_open_container(m, 'r', "sv");
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", wall->property);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(m, 'v', signatures[wall->type]);
        if (r < 0)
                return r;
        r = append_value(wall, m);
        if (r < 0)
                return r;
        r = sd_bus_message_close_container(m);
        if (r < 0)
                return r;

        return sd_bus_message_close_container(m);
}

static bool is_name_char(char c) {
        return g_ascii_isalnum(c) || c == '_';
}

/* Whether a text holds a name as a whole word: "ProtectProc" is not in "ProtectProcFoo". */
static bool names_property(const char *text, const char *name) {
        size_t size = strlen(name);

        for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
                if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[size]))
                        return true;

        return false;
}

int walls_find_refused(const char *message) {
        assert(message);

        for (size_t i = 0; i < G_N_ELEMENTS(walls); i++)
                if (names_property(message, walls[i].property))
                        return (int) i;

        return -ENOENT;
}
