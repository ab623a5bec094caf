// SPDX-License-Identifier: MIT
//
// What the ways out have in common. A way is tried by calling its run(world): it returns what it got hold of, or throws. The same
// function runs in three places: in a plain process, where it must succeed or the test would prove nothing; in a walled unit
// whose runtime is not locked; and in a plugin, where both must hold.
import fs from 'node:fs'
import net from 'node:net'

const PATIENCE_MS = 2500

export class Held extends Error {}

/* must(): the evidence itself, or the way is shut */
export function must(evidence, what) {
  if (!evidence) throw new Held(what)
  return evidence
}

/* A file that holds the secret of this run. */
export function steal(path, secret) {
  return must(fs.readFileSync(path, 'latin1').includes(secret) && `${path} was read`, `${path} holds no secret`)
}

export function plant(path, text = 'planted') {
  fs.writeFileSync(path, text)
  return `${path} was written`
}

export function soon(promise, what) {
  return Promise.race([
    promise,
    new Promise((_, fail) => setTimeout(() => fail(new Held(`${what}: nothing came of it`)), PATIENCE_MS)),
  ])
}

export function connect(options) {
  return soon(new Promise((done, fail) => {
    const socket = net.connect(options)
    socket.once('connect', () => {
      socket.destroy()
      done(`connected to ${options.path ?? options.port}`)
    })
    socket.once('error', fail)
  }), 'connect')
}

/* A program of the system. Its standard error is the reason when it fails. */
export async function execute(file, args, options = {}) {
  const { execFileSync } = await import('node:child_process')
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 10000, ...options }).trim()
}

/* System calls that JavaScript has no word for are made by Python, which lies in /usr and so in the sandbox: the door to it is
 * child_process. `libc`, `call(name, ...)` by number and `check(result, what)` are there. */
const PRELUDE = `
import ctypes, os, platform, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {'add_key': (248, 217), 'request_key': (249, 218), 'keyctl': (250, 219), 'io_uring_setup': (425, 425),
           'userfaultfd': (323, 282), 'bpf': (321, 280), 'perf_event_open': (298, 241), 'pidfd_getfd': (438, 438),
           'pidfd_open': (434, 434), 'pidfd_send_signal': (424, 424), 'clone3': (435, 435), 'kcmp': (312, 272),
           'fsopen': (430, 430), 'open_tree': (428, 428), 'memfd_create': (319, 279), 'rt_sigqueueinfo': (129, 138),
           'process_vm_writev': (311, 271), 'memfd_secret': (447, 447), 'fanotify_init': (300, 262), 'ioprio_set': (251, 30),
           'move_pages': (279, 239), 'process_madvise': (440, 440), 'move_mount': (429, 429), 'mount_setattr': (442, 442)}
def call(name, *arguments):
    number = NUMBERS[name][0 if platform.machine() == 'x86_64' else 1]
    return check(libc.syscall(ctypes.c_long(number), *arguments), name)
def check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        sys.exit(f'{what}: {os.strerror(error)} ({error})')
    return result
`

export async function python(code, ...args) {
  try {
    return must(await execute('/usr/bin/python3', ['-I', '-c', PRELUDE + code, ...args.map(String)]), 'no answer')
  } catch (error) {
    if (error.stderr) throw new Held(error.stderr.trim().split('\n').at(-1))
    throw error
  }
}
