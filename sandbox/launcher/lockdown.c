/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/lockdown.h"

int lockdown_capabilities(void) {
        cap_t none;
        int r = 0;

        for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
                if (cap_get_bound(cap) > 0 && cap_drop_bound(cap) < 0)
                        return -errno;
        if (cap_reset_ambient() < 0 && errno != EINVAL)
                return -errno;

        none = cap_init();
        if (!none)
                return -ENOMEM;
        /* The unit's filter refuses capset() altogether; that is fine, and the sets are verified in any
         * case. */
        if (cap_set_proc(none) < 0 && errno != EPERM)
                r = -errno;
        (void) cap_free(none);
        return r;
}

/* Names that the headers of older systems don't have. */
#define FS_REFER                   (UINT64_C(1) << 13)
#define FS_TRUNCATE                (UINT64_C(1) << 14)
#define FS_IOCTL_DEV               (UINT64_C(1) << 15)
#define SCOPE_ABSTRACT_UNIX_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL               (UINT64_C(1) << 1)
#define FIRST_WITH_REFER           2
#define FIRST_WITH_TRUNCATE        3
#define FIRST_WITH_IOCTL_DEV       5
#define FIRST_WITH_SCOPES          6

typedef struct RulesetAttributes {
        uint64_t handled_access_fs;
        uint64_t handled_access_net;
        uint64_t scoped;
} RulesetAttributes;

#define READ    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EXECUTE (READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define MAKE                                                                                                \
        (LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |         \
                        LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM)
#define REMOVE (LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define WRITE  (READ | LANDLOCK_ACCESS_FS_WRITE_FILE | MAKE | REMOVE | FS_REFER | FS_TRUNCATE)
#define DEVICE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define ON_FILES                                                                                            \
        (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_EXECUTE |        \
                        FS_TRUNCATE | FS_IOCTL_DEV)
#define ALL (EXECUTE | WRITE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | FS_IOCTL_DEV)

static uint64_t handled_by(int version) {
        uint64_t handled = ALL;

        if (version < FIRST_WITH_REFER)
                handled &= ~FS_REFER;
        if (version < FIRST_WITH_TRUNCATE)
                handled &= ~FS_TRUNCATE;
        if (version < FIRST_WITH_IOCTL_DEV)
                handled &= ~FS_IOCTL_DEV;
        return handled;
}

static int allow(int ruleset, const char *path, uint64_t access) {
        struct landlock_path_beneath_attr rule = { .allowed_access = access };
        struct stat st;
        int r = 0;

        rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
        if (rule.parent_fd < 0)
                return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
        if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
                rule.allowed_access &= ON_FILES;
        if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
                r = -errno;
        (void) close(rule.parent_fd);
        return r;
}

static int allow_all(int ruleset, const Words *paths, uint64_t access) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < paths->n; i++)
                r = allow(ruleset, paths->words[i], access);
        return r;
}

static int allow_devices(int ruleset, uint64_t handled) {
        static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                "/dev/urandom" };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < sizeof(devices) / sizeof(devices[0]); i++)
                r = allow(ruleset, devices[i], (DEVICE | FS_IOCTL_DEV) & handled);
        return r;
}

static int restrict_self(int ruleset, const Options *options, uint64_t handled) {
        int r;

        r = allow_all(ruleset, &options->execute, EXECUTE & handled);
        if (r >= 0)
                r = allow_all(ruleset, &options->read, READ & handled);
        if (r >= 0)
                r = allow_all(ruleset, &options->write, WRITE & handled);
        if (r >= 0)
                r = allow_all(ruleset, &options->work, WRITE & handled);
        if (r >= 0)
                r = allow_all(ruleset, &options->run, (WRITE | EXECUTE) & handled);
        if (r >= 0)
                r = allow_devices(ruleset, handled);
        if (r < 0)
                return r;

        return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

int lockdown_landlock(const Options *options) {
        RulesetAttributes attributes = {};
        int version, ruleset, r;

        if (options->without_landlock)
                return 0;
        version = (int) syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (version < 0) /* not built in, switched off, or not let through */
                return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 0 : -errno;

        attributes.handled_access_fs = handled_by(version);
        if (version >= FIRST_WITH_SCOPES)
                attributes.scoped = SCOPE_SIGNAL | SCOPE_ABSTRACT_UNIX_SOCKET;
        ruleset = (int) syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
        if (ruleset < 0)
                return -errno;

        r = restrict_self(ruleset, options, attributes.handled_access_fs);
        (void) close(ruleset);
        return r < 0 ? r : version;
}

bool lockdown_scopes_signals(int landlock) {
        return landlock >= FIRST_WITH_SCOPES;
}
