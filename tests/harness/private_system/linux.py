# SPDX-License-Identifier: MIT
"""The few calls of Linux that Python 3.11 has no name for. Each raises OSError with the path that it was about."""

import ctypes
import fcntl
import os
import socket
import struct

_libc = ctypes.CDLL(None, use_errno=True)

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_PR_SET_PDEATHSIG = 1
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def _check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f'{what}: {os.strerror(error)}')


def _bytes(text):
    return None if text is None else os.fsencode(text)


def mount(source, target, kind=None, flags=0, options=None):
    _check(
        _libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(options)),
        f'mount {kind or "bind"} on {target}')


def bind(source, target):
    """Show a file or a whole folder, with what is mounted in it, at a second place."""
    mount(source, target, flags=MS_BIND | MS_REC)


def unmount(target):
    _check(_libc.umount2(_bytes(target), MNT_DETACH), f'unmount {target}')


def unshare(flags):
    _check(_libc.unshare(ctypes.c_int(flags)), 'unshare')


def enter_namespace(fd, kind):
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), 'setns')


def leave_chroot():
    """Make the root of a chroot, if that is where this process lives, the root of its mount namespace. From within a chroot
    "/" can't be changed when it is no mount, and the kernel gives no user namespace to anybody. The namespace has to be its own."""
    was, here = os.stat('/'), os.open('/', os.O_PATH | os.O_CLOEXEC)
    namespace = os.open('/proc/self/ns/mnt', os.O_RDONLY | os.O_CLOEXEC)
    enter_namespace(namespace, CLONE_NEWNS)
    os.close(namespace)
    mount(None, '/', flags=MS_REC | MS_PRIVATE)
    if not os.path.samestat(was, os.stat('/')):
        os.fchdir(here)
        folder = os.getcwd()
        bind(folder, folder)
        os.chdir(folder)
        _check(_libc.pivot_root(b'.', b'.'), f'make {folder} the root')
        unmount('.')
    os.close(here)


def set_host_name(name):
    _check(_libc.sethostname(_bytes(name), ctypes.c_size_t(len(os.fsencode(name)))), 'sethostname')


def die_with_parent(signal_number):
    _check(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal_number), 0, 0, 0), 'prctl')


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        request = bytearray(struct.pack('16sH14x', b'lo', 0))
        fcntl.ioctl(probe, _SIOCGIFFLAGS, request)
        flags = struct.unpack_from('H', request, 16)[0]
        struct.pack_into('H', request, 16, flags | _IFF_UP)
        fcntl.ioctl(probe, _SIOCSIFFLAGS, request)
