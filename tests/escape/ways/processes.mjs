// SPDX-License-Identifier: MIT
//
// Other processes of the same user: looking into them, sending them signals, changing their limits.
import fs from 'node:fs'
import { execute, must, python, steal } from './tools.mjs'

function kill(pid) {
  process.kill(pid, 0)
  return `${pid} may be signalled`
}

export const processes = {
  'list-of-processes': {
    why: 'Command lines hold passwords.',
    run: world => must(fs.readFileSync(`/proc/${world.target.pid}/cmdline`, 'utf8').includes('escape-target') && 'read', 'another one'),
  },
  'command-line-of-init': { why: 'The manager of the user is a process like any other.', run: () => must(fs.readFileSync('/proc/1/cmdline', 'utf8').length && 'read', 'empty') },
  'environment-of-the-service': { why: 'Environments hold tokens.', control: 'the service lets nobody look into it, not even outside (it is not dumpable)', run: world => must(fs.readFileSync(`/proc/${world.service.pid}/environ`, 'utf8').includes('CODEWHALE') && 'read', 'empty') },
  'environment-of-another': { why: 'The same with any program of the user.', run: world => steal(`/proc/${world.target.pid}/environ`, world.secret) },
  'memory-of-another': {
    why: 'Reading the memory of a password manager.',
    run: world => {
      const maps = fs.readFileSync(`/proc/${world.target.pid}/maps`, 'utf8')
      const fd = fs.openSync(`/proc/${world.target.pid}/mem`, 'r')
      fs.closeSync(fd)
      return must(maps.length && 'opened', 'empty')
    },
  },
  'descriptors-of-another': { why: 'Opening what another one has open, for example a deleted file.', run: world => must(fs.readdirSync(`/proc/${world.target.pid}/fd`).length && 'listed', 'empty') },
  'memory-of-the-service': {
    why: 'The tokens and tickets of every plugin are in the memory of the service.',
    control: 'the service lets nobody look into it, not even outside (it is not dumpable)',
    run: world => {
      fs.closeSync(fs.openSync(`/proc/${world.service.pid}/mem`, 'r'))
      return 'opened'
    },
  },
  'signal-to-the-service': { why: 'Ending the service ends every plugin.', run: world => kill(world.service.pid) },
  'signal-to-another': { why: 'Ending the work of the user.', run: world => kill(world.target.pid) },
  'signal-to-the-group': {
    why: 'kill(-1) ends all that the user has. (Only asked: signal 0, and whether anybody else is reached.)',
    run: world => python(`
import signal
before = os.getpid()
check(libc.kill(int(sys.argv[1]), 0), 'kill')
check(libc.kill(-1, 0), 'kill all')
print('everybody')`, world.target.pid),
  },
  'signal-by-descriptor': {
    why: 'A pidfd is another word for a pid.',
    run: world => python(`
fd = call('pidfd_open', int(sys.argv[1]), 0)
call('pidfd_send_signal', fd, 0, None, 0)
print('sent')`, world.target.pid),
  },
  'signal-queued': {
    why: 'sigqueue() carries a pointer along.',
    run: world => python(`
import signal
info = ctypes.create_string_buffer(128)
struct.pack_into('iii', info, 0, 0, 0, -1)
call('rt_sigqueueinfo', int(sys.argv[1]), 0, info)
print('sent')`, world.target.pid),
  },
  'signal-by-file-owner': {
    why: 'F_SETOWN makes the kernel send the signal, in the name of a descriptor.',
    mark: 'signalled',
    run: world => python(`
import fcntl, signal, time
r, w = os.pipe()
fcntl.fcntl(r, fcntl.F_SETOWN, int(sys.argv[1]))
fcntl.fcntl(r, fcntl.F_SETSIG, signal.SIGUSR1)
fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC)
os.write(w, b'x')
time.sleep(0.5)
print('sent, perhaps')`, world.target.pid),
  },
  'limits-of-another': {
    why: 'prlimit() on another one takes its files or its memory away.',
    run: world => python(`
import resource
print('read', resource.prlimit(int(sys.argv[1]), resource.RLIMIT_NOFILE))`, world.target.pid),
  },
  'trace-another': {
    why: 'ptrace() is all power over a process.',
    run: world => python(`
check(libc.ptrace(0x4206, int(sys.argv[1]), None, None), 'PTRACE_SEIZE')
print('traced')`, world.target.pid),
  },
  'trace-the-service': {
    why: 'And over the service over all of it.',
    control: 'kernels with Yama let only parents do it',
    run: world => python(`
check(libc.ptrace(0x4206, int(sys.argv[1]), None, None), 'PTRACE_SEIZE')
print('traced')`, world.service.pid),
  },
  'read-memory-by-call': {
    why: 'process_vm_readv() needs no /proc.',
    run: world => python(`
class Part(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
there = ctypes.create_string_buffer(64)
here, far = Part(ctypes.addressof(there), 16), Part(int(sys.argv[2]), 16)
check(libc.process_vm_readv(int(sys.argv[1]), ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(far), ctypes.c_ulong(1), ctypes.c_ulong(0)), 'process_vm_readv')
print('read', there.raw[:16])`, world.target.pid, world.target.address),
  },
  'write-memory-by-call': {
    why: 'And process_vm_writev() writes it.',
    run: world => python(`
class Part(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
there = ctypes.create_string_buffer(16)
here, far = Part(ctypes.addressof(there), 16), Part(int(sys.argv[2]) + 64, 16)
call('process_vm_writev', int(sys.argv[1]), ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(far), ctypes.c_ulong(0), ctypes.c_ulong(0))
print('written')`, world.target.pid, world.target.address),
  },
  'trace-me': {
    why: 'Who is traced has its system calls changed after the filter looked, on some kernels.',
    run: () => python("check(libc.ptrace(0, 0, None, None), 'PTRACE_TRACEME')\nprint('traced')"),
  },
  'pages-of-another': {
    why: 'move_pages() tells what is in the memory of another one, and moves it.',
    control: 'the kernel may be built without it',
    run: world => python(`
page, status = ctypes.c_void_p(int(sys.argv[2]) & ~4095), ctypes.c_int()
call('move_pages', int(sys.argv[1]), ctypes.c_ulong(1), ctypes.byref(page), None, ctypes.byref(status), 0)
print('asked')`, world.target.pid, world.target.address),
  },
  'disk-priority-of-another': {
    why: 'ioprio_set() keeps another one from the disk.',
    run: world => python("call('ioprio_set', 1, int(sys.argv[1]), 3 << 13)\nprint('idle from now on')", world.target.pid),
  },
  'group-of-another': {
    why: 'Joining the process group of a shell gets its signals and its terminal.',
    control: 'only in its own session',
    run: world => python("os.setpgid(0, os.getpgid(int(sys.argv[1])))\nprint('joined')", world.target.pid),
  },
  'session-of-another': {
    why: 'The session of another one names its terminal.',
    run: world => python("print('told', os.getsid(int(sys.argv[1])))", world.target.pid),
  },
  'steal-a-descriptor': {
    why: 'pidfd_getfd() takes a copy of an open file of another one.',
    run: world => python(`
fd = call('pidfd_open', int(sys.argv[1]), 0)
print('taken', call('pidfd_getfd', fd, 0, 0))`, world.target.pid),
  },
  'compare-with-another': {
    why: 'kcmp() tells what two processes share, and so where to dig.',
    control: 'the kernel may be built without it',
    run: world => python(`
print('compared', call('kcmp', os.getpid(), int(sys.argv[1]), 0, 0, 1))`, world.target.pid),
  },
  'priority-of-another': {
    why: 'Slowing down the programs of the user.',
    run: world => python(`
check(libc.setpriority(0, int(sys.argv[1]), 5), 'setpriority')
print('changed')`, world.target.pid),
  },
  'processor-of-another': {
    why: 'Binding every program of the user to one processor.',
    run: world => python(`
os.sched_setaffinity(int(sys.argv[1]), os.sched_getaffinity(int(sys.argv[1])))
print('bound')`, world.target.pid),
  },
  'environment-of-its-own': {
    why: 'What the service was started with is not for plugins.',
    run: world => must(Object.entries(process.env).some(([, value]) => value?.includes(world.secret)) && 'the secret of the environment', 'nothing of it'),
  },
  'systemd-run': {
    why: 'The manager would start a unit without any walls.',
    control: 'systemd-run needs a session that knows its bus',
    run: () => execute('/usr/bin/systemd-run', ['--user', '--wait', '/bin/true']),
  },
  'become-root': { why: 'The shortest way.', control: 'only root may', run: () => python("os.setresuid(0, 0, 0)\nprint('root')") },
  'leave-by-at-or-cron': {
    why: 'A job of cron runs outside of the unit.',
    control: 'the machine may have no cron',
    run: () => execute('/usr/bin/crontab', ['-l']),
  },
}
