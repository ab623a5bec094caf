// SPDX-License-Identifier: MIT
//
// What bounds a plugin, seen as something to be undone: limits, its control group, where a crash of it leads.
import fs from 'node:fs'
import { must, plant, python } from './tools.mjs'

/* The folder of its control group, as far as the process may know it */
const group = () => fs.readFileSync('/proc/self/cgroup', 'utf8').split('\n').map(line => line.split(':').slice(2).join(':')).find(name => name.includes('.service'))
const GROUPS = 'where the groups lie and who owns them is decided by the machine'

const raise = (what, why) => ({
  why,
  control: 'the machine may have set a limit for everybody',
  run: () => python(`
import resource
resource.setrlimit(resource.${what}, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print('unlimited')`),
})

export const limits = {
  'data-limit-raised': raise('RLIMIT_DATA', 'What the limit on its memory is worth where the control group has none.'),
  'core-limit-raised': raise('RLIMIT_CORE', 'A core dump goes to a program that root runs, with memory of the plugin as its input.'),
  'core-dump-in-its-folder': {
    why: 'A dump is a file that somebody opens with a debugger some day.',
    control: 'the machine decides where dumps go',
    run: world => python(`
import resource, signal, glob
os.chdir(sys.argv[1])
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGABRT)
    os._exit(0)
status = os.waitpid(child, 0)[1]
sys.exit('no dump') if not os.WCOREDUMP(status) else print('dumped', glob.glob('core*'))`, world.data),
  },
  'files-limit-raised': {
    why: 'Descriptors are kernel memory that belongs to nobody.',
    control: 'the limit of the machine may be lower',
    run: () => python(`
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (65536, 65536))
print('raised')`),
  },
  'group-memory-limit': { why: 'Whoever writes memory.max of his group has no limit.', control: GROUPS, run: () => plant(`/sys/fs/cgroup${group()}/memory.max`, 'max') },
  'group-of-its-own-made': {
    why: 'A group below its own is one that the end of the unit might forget.',
    control: GROUPS,
    run: () => {
      fs.mkdirSync(`/sys/fs/cgroup${group()}/escape`)
      return 'made'
    },
  },
  'out-of-memory-score': {
    why: 'Who says that others are to be killed first survives them.',
    control: 'only root may lower it',
    run: () => plant('/proc/self/oom_score_adj', '-1000'),
  },
  'niceness': { why: 'Before everybody else.', control: 'only with a limit that allows it', run: () => python("os.nice(-5)\nprint('before the others')") },
  'locked-memory': {
    why: 'Memory that is never paged out is taken away from everybody.',
    control: 'the limit of the machine may be lower',
    run: () => python("check(libc.mlockall(3), 'mlockall')\nprint('locked')"),
  },
  'disk-by-tmp': {
    why: 'A /tmp without bounds fills the disk or the memory of the machine.',
    control: 'a control that fills the disk is none',
    run: world => {
      const path = `/tmp/${world.mark}-filler`
      const block = Buffer.alloc(1 << 20)
      const fd = fs.openSync(path, 'w')
      try {
        if (!fs.existsSync('/host')) throw new Error('only tried in a sandbox')
        for (let megabytes = 0; megabytes < 128; megabytes++) fs.writeSync(fd, block)
      } finally {
        fs.closeSync(fd)
        fs.rmSync(path, { force: true })
      }
      return must('128 MiB were written', 'no')
    },
  },
}
