/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/launcher/checks.h"

/* Whether any flag is set in any of the sets that a process has. */
static const char *find_capability_set(void) {
        cap_t mine = cap_get_proc(), none = cap_init();
        cap_iab_t iab = cap_iab_get_proc(), no_iab = cap_iab_init();
        const char *set = NULL;

        if (!mine || !none || !iab || !no_iab)
                set = "unreadable";
        else if (cap_compare(mine, none) != 0)
                set = "effective, permitted or inheritable";
        else
                for (cap_value_t cap = 0; !set && cap < cap_max_bits(); cap++) {
                        if (cap_get_bound(cap) > 0)
                                set = "bounding";
                        else if (cap_get_ambient(cap) > 0)
                                set = "ambient";
                }

        (void) cap_free(mine);
        (void) cap_free(none);
        (void) cap_free(iab);
        (void) cap_free(no_iab);
        return set;
}

/* Return: 0 when a capability was gained, else the errno that stood in the way. */
static int try_capability(void) {
        static const cap_value_t wanted[] = { CAP_SYS_ADMIN };
        cap_t more = cap_get_proc();
        int error = 0;

        if (!more)
                return ENOMEM;
        if (cap_set_flag(more, CAP_PERMITTED, 1, wanted, CAP_SET) < 0 ||
                        cap_set_flag(more, CAP_EFFECTIVE, 1, wanted, CAP_SET) < 0 || cap_set_proc(more) < 0)
                error = errno;
        (void) cap_free(more);
        return error;
}

static void check_capabilities(Findings *findings) {
        const char *set = find_capability_set();
        int error = try_capability();

        findings_add(findings, "capabilities", true, !set, "%s%s", set ? set : "all sets are empty",
                        set ? " set is not empty" : "");
        findings_add(findings, "no-new-capabilities", true, error != 0, "%s",
                        error != 0 ? strerror(error) : "CAP_SYS_ADMIN was gained");
}

void checks_privileges(Findings *findings) {
        int no_new = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
        int seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
        int locked;

        check_capabilities(findings);
        findings_add(findings, "no-new-privileges", true, no_new == 1, "NoNewPrivs is %d", no_new);
        findings_add(findings, "seccomp", true, seccomp == SECCOMP_MODE_FILTER, "mode %d", seccomp);

        locked = personality(ADDR_NO_RANDOMIZE) < 0;
        findings_add(findings, "personality", true, locked, "%s",
                        locked ? strerror(errno) : "it could be changed");
}
