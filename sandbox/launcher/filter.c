/* SPDX-License-Identifier: MIT */

/* The launcher's filter: system calls that reach other processes of the same user, by their arguments, which
 * systemd's filters can't look at; and new namespaces, which systemd 252 forgets to forbid. */

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/lockdown.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#error "add the architecture's AUDIT_ARCH_ word here"
#endif

/* The low half of an argument: all that the kernel looks at where the argument is an int. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ARGUMENT(i) (offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t))
#else
#define ARGUMENT(i) (offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t) + sizeof(uint32_t))
#endif

#define PROGRAM_MAX 112

typedef struct Program {
        struct sock_filter code[PROGRAM_MAX];
        unsigned short n;
} Program;

static void emit(Program *program, struct sock_filter instruction) {
        if (program->n < PROGRAM_MAX)
                program->code[program->n++] = instruction;
}

static void load(Program *program, uint32_t offset) {
        emit(program, (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void answer(Program *program, uint32_t action) {
        emit(program, (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, action));
}

/* Skips @n instructions unless the loaded value is @value. */
static void unless(Program *program, uint32_t value, uint8_t n) {
        emit(program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n));
}

#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

static void refuse(Program *program, uint32_t call) {
        unless(program, call, 1);
        answer(program, REFUSE);
}

/* The call is for the own process (or 0, which means the same), or it is refused. */
static void own_process_only(Program *program, uint32_t call, unsigned argument, uint32_t self) {
        unless(program, call, 6);
        load(program, ARGUMENT(argument));
        unless(program, 0, 1);
        answer(program, SECCOMP_RET_ALLOW);
        unless(program, self, 1);
        answer(program, SECCOMP_RET_ALLOW);
        answer(program, REFUSE);
}

/* The call is refused when an argument has one of two values. */
static void never_with(Program *program, uint32_t call, unsigned argument, uint32_t first, uint32_t second) {
        unless(program, call, 6);
        load(program, ARGUMENT(argument));
        unless(program, first, 1);
        answer(program, REFUSE);
        unless(program, second, 1);
        answer(program, REFUSE);
        load(program, offsetof(struct seccomp_data, nr));
}

/* The call is refused when an argument has any of these bits. */
static void never_with_any(Program *program, uint32_t call, unsigned argument, uint32_t bits) {
        unless(program, call, 4);
        load(program, ARGUMENT(argument));
        emit(program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
        answer(program, REFUSE);
        load(program, offsetof(struct seccomp_data, nr));
}

#define NAMESPACES                                                                                          \
        (CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS)

/* RestrictNamespaces= does the same, unless the manager read its units anew between our request and the start: systemd 252
 * writes "none may be made" down as an empty setting, which it reads as "all may". */
static void add_namespaces(Program *program) {
        refuse(program, SYS_setns);
        refuse(program, SYS_unshare);
        never_with_any(program, SYS_clone, 0, NAMESPACES);
        /* Its flags are in memory, where a filter can't look. C libraries then use the other one. */
        unless(program, SYS_clone3, 1);
        answer(program, SECCOMP_RET_ERRNO | ENOSYS);
}

static void add_signals(Program *program, uint32_t self) {
        own_process_only(program, SYS_kill, 0, self);
        own_process_only(program, SYS_tgkill, 0, self);
        own_process_only(program, SYS_rt_sigqueueinfo, 0, self);
        own_process_only(program, SYS_rt_tgsigqueueinfo, 0, self);
        refuse(program, SYS_tkill);
        refuse(program, SYS_pidfd_send_signal);

        /* Signals by way of a descriptor's owner */
        never_with(program, SYS_fcntl, 1, F_SETOWN, F_SETOWN_EX);
        never_with(program, SYS_ioctl, 1, FIOSETOWN, SIOCSPGRP);
}

int lockdown_filter(bool signals) {
        uint32_t self = (uint32_t) getpid();
        Program program = { .n = 0 };
        struct sock_fprog filter = { .filter = program.code };

        load(&program, offsetof(struct seccomp_data, arch));
        emit(&program, (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
        answer(&program, REFUSE);
        load(&program, offsetof(struct seccomp_data, nr));

        add_namespaces(&program);
        own_process_only(&program, SYS_prlimit64, 0, self);
        /* Which terminal and which shell another one belongs to */
        own_process_only(&program, SYS_getsid, 0, self);
        own_process_only(&program, SYS_getpgid, 0, self);
        never_with(&program, SYS_ioctl, 1, TIOCSTI, TIOCLINUX);
        if (signals)
                add_signals(&program, self);
        answer(&program, SECCOMP_RET_ALLOW);

        if (program.n >= PROGRAM_MAX)
                return -E2BIG;
        filter.len = program.n;
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) < 0 ? -errno : 0;
}
