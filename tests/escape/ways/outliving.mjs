// SPDX-License-Identifier: MIT
//
// Going on after the end. The way is out when a process is there that its parent's end did not end; whether the unit's end does
// is seen from outside, after the unit is gone.
import { execute, python } from './tools.mjs'

/* Nothing of these may be left, so each carries the mark of this run in its command line. */
const SLEEPER = "import time\ntime.sleep(120)"

const leave = (why, code) => ({
  why,
  lives: true,
  run: world => python(`
import subprocess, signal, time
mark = sys.argv[1]
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
sleeper = ['/usr/bin/python3', '-c', ${JSON.stringify(SLEEPER)}, mark]
${code}
print('left behind')`, world.mark),
})

export const outliving = {
  'child-in-a-session': leave('setsid() leaves the process group.', 'subprocess.Popen(sleeper, start_new_session=True, **quiet)'),
  'child-of-nobody': leave('Forked twice, its parent is process 1.', `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        os.execv(sleeper[0], sleeper)
    os._exit(0)
os.wait()`),
  'child-that-ignores-signals': leave('It hears no TERM and no HUP.', `
def deaf():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
subprocess.Popen(sleeper, start_new_session=True, preexec_fn=deaf, **quiet)`),
  'child-that-is-stopped': leave('A stopped process hears nothing at all.', `
child = subprocess.Popen(sleeper, start_new_session=True, **quiet)
time.sleep(0.2)
child.send_signal(signal.SIGSTOP)
child.returncode = 0`),
  'child-as-a-daemon': leave('daemon-like: another folder, another umask, no descriptor.', `
subprocess.Popen(sleeper, start_new_session=True, cwd='/', umask=0, close_fds=True, **quiet)`),
  'many-children': leave('Faster at forking than others at killing.', `
for _ in range(12):
    subprocess.Popen(sleeper, start_new_session=True, **quiet)`),
  'child-by-nohup': {
    why: 'The old way.',
    lives: true,
    run: async world => {
      await execute('/usr/bin/sh', ['-c', `nohup /usr/bin/python3 -c '${SLEEPER.replace('\n', ';')}' ${world.mark} >/dev/null 2>&1 & echo left`])
      return 'left behind'
    },
  },
}
