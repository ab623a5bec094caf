// SPDX-License-Identifier: MIT
//
// Parts of the kernel that have no business in a plugin. JavaScript has no word for them: the door is a child process, and behind
// it stands the filter of the unit. Where the kernel of a machine refuses a thing to every user, its control proves nothing, and
// says so.
import { execute, python } from './tools.mjs'

const KERNEL = 'the kernel of this machine may refuse it to every user'

const namespace = (flag, kind) => ({
  why: `A new ${kind} namespace has capabilities inside, and with them the attack surface of root.`,
  control: KERNEL,
  run: () => python(`
check(libc.unshare(${flag}), 'unshare')
print('made')`),
})

export const kernel = {
  'key-added': {
    why: 'The keyring of the user is shared by all of the session.',
    control: KERNEL,
    run: () => python(`
print('added', call('add_key', b'user', b'escape', b'x', ctypes.c_size_t(1), ctypes.c_int(-4)))`),
  },
  'keyring-searched': {
    why: 'Kerberos tickets and disk passphrases lie there.',
    control: KERNEL,
    run: () => python(`
print('found', call('keyctl', 0, ctypes.c_int(-4), 1))`),
  },
  'key-requested': {
    why: 'request_key() starts a program of root outside.',
    control: KERNEL,
    run: () => python(`
call('request_key', b'user', b'escape', None, 0)
print('requested')`),
  },
  'io-uring': {
    why: 'io_uring does system calls that no filter sees.',
    control: KERNEL,
    run: () => python(`
print('made', call('io_uring_setup', 8, ctypes.create_string_buffer(256)))`),
  },
  'user-fault-handler': { why: 'userfaultfd makes races in the kernel win.', control: KERNEL, run: () => python("print('made', call('userfaultfd', 1))") },
  'bpf-program': {
    why: 'Programs in the kernel.',
    control: KERNEL,
    run: () => python(`
attributes = ctypes.create_string_buffer(128)
struct.pack_into('IIII', attributes, 0, 2, 4, 4, 1)
print('made', call('bpf', 0, attributes, 128))`),
  },
  'performance-events': {
    why: 'Counters that tell what others compute.',
    control: KERNEL,
    run: () => python(`
attributes = ctypes.create_string_buffer(128)
struct.pack_into('IIQQQQQ', attributes, 0, 1, 128, 0, 0, 0, 0, 0x61)
print('made', call('perf_event_open', attributes, 0, -1, -1, 0))`),
  },
  'namespace-user': namespace('0x10000000', 'user'),
  'namespace-mount': namespace('0x10000000 | 0x00020000', 'mount'),
  'namespace-network': namespace('0x10000000 | 0x40000000', 'network'),
  'namespace-process': namespace('0x10000000 | 0x20000000', 'process'),
  'namespace-by-clone3': {
    why: 'clone3() hides its flags behind a pointer, where no filter looks.',
    control: KERNEL,
    run: () => python(`
arguments = ctypes.create_string_buffer(88)
struct.pack_into('Q', arguments, 0, 0x10000000)
struct.pack_into('Q', arguments, 32, 17)
child = call('clone3', arguments, ctypes.c_size_t(88))
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
print('made')`),
  },
  'namespace-of-another': {
    why: 'Entering the namespaces of a process of the user leads out of its own.',
    control: 'without capabilities nobody may',
    run: world => python(`
fd = call('pidfd_open', int(sys.argv[1]), 0)
check(libc.setns(fd, 0x00020000), 'setns')
print('entered')`, world.target.pid),
  },
  'mount': { why: 'A mount of its own covers files.', control: 'only root may', run: world => python("check(libc.mount(b'none', sys.argv[1].encode(), b'tmpfs', 0, None), 'mount')\nprint('mounted')", world.data) },
  'mount-by-descriptor': { why: 'The newer way to mount.', control: 'only root may', run: () => python("print('made', call('fsopen', b'tmpfs', 0))") },
  'mount-tree-opened': {
    why: 'A copy of a tree of mounts, without what was mounted over it.',
    control: 'only root may',
    run: () => python("print('opened', call('open_tree', -100, b'/', 1))"),
  },
  'mount-made-writable': {
    why: 'mount_setattr() takes the read-only away from a mount.',
    control: 'only root may',
    run: () => python(`
attributes = ctypes.create_string_buffer(struct.pack('QQQQ', 0, 1, 0, 0), 32)
call('mount_setattr', -100, b'/', 0, attributes, ctypes.c_size_t(32))
print('writable')`),
  },
  'mount-taken-away': { why: 'Behind a mount lies what it hides.', control: 'only root may', run: () => python("check(libc.umount2(b'/tmp', 2), 'umount')\nprint('gone')") },
  'root-changed': { why: 'chroot() and a descriptor from before lead out.', control: 'only root may', run: () => python("os.chroot('/')\nprint('changed')") },
  'file-by-handle': {
    why: 'A handle of a file opens it wherever it is mounted.',
    control: 'only root may',
    run: world => python(`
handle = ctypes.create_string_buffer(struct.pack('Ii', 8, 1) + bytes(128), 136)
check(libc.open_by_handle_at(os.open(sys.argv[1], os.O_RDONLY), handle, 0), 'open_by_handle_at')
print('opened')`, world.data),
  },
  'code-in-a-memory-file': {
    why: 'A file that lies in no mount knows no noexec: native code of the plugin would run.',
    run: () => python(`
fd = call('memfd_create', b'escape', 0)
os.write(fd, open('/usr/bin/true', 'rb').read())
if os.fork() == 0:
    os.execve(f'/proc/self/fd/{fd}', ['true'], {})
sys.exit('not executed') if os.wait()[1] else print('executed')`),
  },
  'code-in-a-secret-memory-file': {
    why: 'The other file in memory.',
    control: KERNEL,
    run: () => python("print('made', call('memfd_secret', 0))"),
  },
  'code-mapped-from-data': {
    why: 'Mapping a file that it wrote as code needs no loader and no program.',
    run: world => python(`
import mmap
with open(sys.argv[1], 'w+b') as file:
    file.write(bytes(4096))
    file.flush()
    mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print('mapped')`, `${world.data}/mapped`),
  },
  'code-in-its-data-folder': {
    why: 'Native code that the plugin brings or makes must not run.',
    run: world => execute('/usr/bin/python3', ['-I', '-c', `
import os, shutil, subprocess, sys
shutil.copy('/usr/bin/true', sys.argv[1])
os.chmod(sys.argv[1], 0o700)
subprocess.run([sys.argv[1]], check=True)
print('executed')`, `${world.data}/program`]),
  },
  'code-in-tmp': {
    why: 'The same in the other place that it may write.',
    run: world => execute('/usr/bin/python3', ['-I', '-c', `
import os, shutil, subprocess, sys
shutil.copy('/usr/bin/true', sys.argv[1])
os.chmod(sys.argv[1], 0o700)
subprocess.run([sys.argv[1]], check=True)
print('executed')`, `/tmp/${world.mark}-program`]),
  },
  'code-in-its-bundle': { why: 'A program among the reviewed files is data.', run: world => execute(`${world.bundle}/native/door-program`, []) },
  'code-by-the-loader': {
    why: 'The dynamic loader as the program, its argument the plugin\'s file: noexec must count there, too.',
    run: world => python(`
import glob, subprocess
loader = (glob.glob('/lib64/ld-linux-*.so.2') + glob.glob('/lib/ld-linux-*.so.1'))[0]
done = subprocess.run([loader, sys.argv[1]], capture_output=True, text=True)
sys.exit(done.stderr or 'no') if done.returncode else print(done.stdout)`, `${world.bundle}/native/door-program`),
  },
  'library-of-its-bundle': {
    why: 'A library is code, whoever maps it.',
    run: world => python(`
try:
    ctypes.CDLL(sys.argv[1])
except OSError as error:
    sys.exit(str(error))
print('loaded')`, `${world.bundle}/native/door.node`),
  },
  'personality': { why: 'Old personalities switch off address randomness.', run: () => python("check(libc.personality(0x0040000), 'personality')\nprint('changed')") },
  'real-time': { why: 'A real-time task starves the machine.', control: 'only with a limit that allows it', run: () => python("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\nprint('real time')") },
  'shared-memory-of-others': {
    why: 'System V memory has keys instead of names: other programs share it.',
    run: world => python(`
segment = check(libc.shmget(int(sys.argv[1]), 0, 0), 'shmget')
print('found', segment)`, world.shm),
  },
  'message-queue-of-others': {
    why: 'POSIX queues have a namespace of their own, and need one here.',
    control: 'a user may be allowed none',
    run: world => python(`
rt = ctypes.CDLL('librt.so.1', use_errno=True)
check(rt.mq_open(sys.argv[1].encode(), os.O_RDONLY), 'mq_open')
print('opened')`, world.queue),
  },
  'events-of-all-files': {
    why: 'fanotify tells which files everybody opens.',
    control: KERNEL,
    run: () => python("print('made', call('fanotify_init', 0x200, 0))"),
  },
  'input-output-ports': { why: 'Ports are the hardware itself.', control: 'only root may', run: () => python("check(libc.iopl(3) if hasattr(libc, 'iopl') else -1, 'iopl')\nprint('opened')") },
  'terminal-input': {
    why: 'TIOCSTI types into a terminal, where a shell of the user waits.',
    control: 'newer kernels refuse it to everybody',
    run: () => python(`
import fcntl, termios
first, second = os.openpty()
fcntl.ioctl(second, termios.TIOCSTI, b'x')
print('typed')`),
  },
  'host-name': { why: 'Renaming the machine.', control: 'only root may', run: () => python("check(libc.sethostname(b'escape', 6), 'sethostname')\nprint('renamed')") },
  'clock': { why: 'A wrong clock makes certificates valid again.', control: 'only root may', run: () => python("import time\ntime.clock_settime(time.CLOCK_REALTIME, time.time())\nprint('set')") },
  'module': { why: 'A module is the kernel.', control: 'only root may', run: () => python("check(libc.syscall(175 if platform.machine() == 'x86_64' else 105, None, 0, b''), 'init_module')\nprint('loaded')") },
  'old-system-calls': {
    why: 'The 32-bit table of system calls has other numbers, past a filter that looks at the native ones.',
    control: 'only on x86_64, where the kernel has it',
    run: () => python(`
import mmap
if platform.machine() != 'x86_64':
    sys.exit('another machine')
# mov eax, 20 (getpid of i386); int 0x80; ret
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
r = function()
sys.exit(f'{r}') if r != os.getpid() else print('called', r)`),
  },
}
