/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/checks.h"

/* System calls with arguments that do nothing even where the call is let through. EPERM is the filter's
 * answer; the kernel itself would say something else, except where an unprivileged process gets EPERM in any
 * case. */
void checks_calls(Findings *findings) {
        static const struct {
                const char *name;
                long number;
        } calls[] = {
                { "add_key", SYS_add_key },
                { "keyctl", SYS_keyctl },
                { "request_key", SYS_request_key },
                { "bpf", SYS_bpf },
                { "userfaultfd", SYS_userfaultfd },
                { "io_uring_setup", SYS_io_uring_setup },
                { "io_uring_enter", SYS_io_uring_enter },
                { "perf_event_open", SYS_perf_event_open },
                { "ptrace", SYS_ptrace },
                { "mount", SYS_mount },
                { "umount2", SYS_umount2 },
                { "pivot_root", SYS_pivot_root },
                { "fsopen", SYS_fsopen },
                { "open_tree", SYS_open_tree },
                { "open_by_handle_at", SYS_open_by_handle_at },
                { "init_module", SYS_init_module },
                { "kexec_load", SYS_kexec_load },
                { "memfd_create", SYS_memfd_create },
                { "swapon", SYS_swapon },
                { "pidfd_getfd", SYS_pidfd_getfd },
                { "process_vm_readv", SYS_process_vm_readv },
                { "process_vm_writev", SYS_process_vm_writev },
                { "sched_setaffinity", SYS_sched_setaffinity },
        };
        size_t n = sizeof(calls) / sizeof(calls[0]);

        for (size_t i = 0; i < n; i++) {
                long r = syscall(calls[i].number, -1, 0, 0, 0, 0, 0);

                if (r < 0 && (errno == EPERM || errno == ENOSYS))
                        continue;
                findings_add(findings, "system-calls", true, false, "%s is let through: %s", calls[i].name,
                                r < 0 ? strerror(errno) : "it succeeded");
                return;
        }
        findings_add(findings, "system-calls", true, true, "%zu dangerous ones are refused", n);
}
