# SPDX-License-Identifier: MIT
"""The walk of scripts/demo: demo-tour.py BUILD NODE. Every line after a "$" is a real command, every answer is what it printed."""

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD, NODE = Path(sys.argv[1]), sys.argv[2]
CTL = str(BUILD / 'cli' / 'codewhalectl')
BUS_NAME, BUS_PATH = 'org.codewhale.Extensions', '/org/codewhale/Extensions'

CURIOUS = '''// SPDX-License-Identifier: MIT
// An extension that looks around: it tries what no extension should be able to do and says how far it came.
import fs from 'node:fs'
import net from 'node:net'

export const inject = ['tools']

async function attempt(what) {
  try {
    return `REACHED: ${String(await what()).slice(0, 60)}`
  } catch (error) {
    return `refused (${error.code ?? error.message})`
  }
}

const connect = (options) => new Promise((done, fail) => net.connect(options, () => done('connected')).on('error', fail))

export function apply(ctx) {
  ctx.tools.register({
    name: 'look_around',
    description: 'Tries to reach what it should not.',
    parameters: { type: 'object', properties: { home: { type: 'string' }, bus: { type: 'string' } }, additionalProperties: false },
    execute: async ({ home, bus }) => ({
      'your home': await attempt(() => fs.readdirSync(home)),
      '/etc/passwd': await attempt(() => fs.readFileSync('/etc/passwd', 'utf8')),
      'your session bus': await attempt(() => connect({ path: bus })),
      'the network': await attempt(() => connect({ host: '1.1.1.1', port: 443 })),
      'writing to /usr': await attempt(() => fs.writeFileSync('/usr/x', 'x')),
      'changing itself': await attempt(() => fs.writeFileSync('/plugin/x', 'x')),
      'another program': await attempt(async () => (await import('node:child_process')).execFileSync('/usr/bin/id')),
      'other processes': await attempt(() => {
        const seen = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length
        if (seen < 5) throw new Error('it sees only itself')
        return `${seen} processes`
      }),
    }),
  })
}
'''


class Tour:
    """Starts what the walk needs, prints each step, and takes everything away again."""

    def __init__(self):
        self.base = Path(tempfile.mkdtemp(prefix='codewhale-demo-'))
        self.home = self.base / 'home'
        self.home.mkdir(mode=0o700)
        (self.home / 'config.toml').write_text(
            f'# Extensions with code of their own are off until you want them.\n[features]\nextension_host = true\n\n'
            '# Trusting is a personal act: an approver must confirm it. (Without this line, polkit is asked where it is there.)\n'
            '[trust]\nconfirm = "approver"\n\n'
            f'[extension_host]\nnode = "{NODE}"\n')
        self.bus = self.service = None
        self.step = 0
        self.environment = dict(os.environ)

    def start(self):
        self.bus = subprocess.Popen(['dbus-daemon', '--session', '--nofork', '--print-address=1'], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.bus.stdout.readline().strip()
        self.environment.update(DBUS_SESSION_BUS_ADDRESS=address, CODEWHALE_BUS_ADDRESS=address, CODEWHALE_HOME=str(self.home), PATH=(
            f'{Path(CTL).parent}:{os.environ["PATH"]}'))
        self.bus_socket = re.search(r'path=([^,]+)', address)[1]
        self.start_service()

    def start_service(self):
        with open(self.base / 'service.log', 'ab') as log:
            self.service = subprocess.Popen(
                [str(BUILD / 'codewhale-extensionsd'), f'--host-bundle={BUILD}/host/codewhale-extension-host.mjs',
                 f'--launcher={BUILD}/sandbox/codewhale-host-launcher'],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        for _ in range(400):
            if self.output('busctl', '--user', '--no-pager', '--timeout=5', 'get-property', BUS_NAME, BUS_PATH, BUS_NAME, 'Version')[0] == 0:
                return
            if self.service.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit('demo: the service did not start:\n' + (self.base / 'service.log').read_text(errors='replace'))

    def stop_service(self):
        self.service.send_signal(signal.SIGTERM)
        self.service.wait(20)
        self.service = None

    def close(self):
        for process in (self.service, self.bus):
            if process and process.poll() is None:
                process.terminate()
                process.wait(20)
        subprocess.run(['chmod', '-R', 'u+rwX', str(self.base)], check=False)
        shutil.rmtree(self.base, ignore_errors=True)

    # Printing

    def heading(self, text, words=''):
        self.step += 1
        print(f'\n── {self.step}. {text} ' + '─' * max(3, 96 - len(text)))
        if words:
            print('\n'.join(textwrap.wrap(' '.join(words.split()), 108)))
        sys.stdout.flush()

    def show(self, text, limit=None):
        lines = text.rstrip('\n').splitlines()
        for line in lines[:limit]:
            hanging = '  ' + re.match(r'[\s│]*', line)[0] + '  '
            print('\n'.join(textwrap.wrap('  ' + line, 150, subsequent_indent=hanging, replace_whitespace=False, break_on_hyphens=False,
                                           drop_whitespace=False) or ['']))
        if limit and len(lines) > limit:
            print(f'  … ({len(lines) - limit} more lines)')
        sys.stdout.flush()

    def output(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors='replace', env=self.environment, timeout=60, check=False)
        return done.returncode, done.stdout

    def run(self, *command, expect=0, limit=None, say=None):
        """Print a command as one would type it, run it, print its answer."""
        words = ['codewhalectl' if word == CTL else word for word in command]
        print(f'\n$ {say or shlex.join(words)}', flush=True)
        status, output = self.output(*command)
        self.show(output, limit)
        if (status == 0) != (expect == 0):
            raise RuntimeError(f'{words[0]} ended with {status}')
        if status:
            print(f'  (exit status {status})')
        return output

    def ctl(self, *words, **more):
        return self.run(CTL, '--no-pager', '--color=never', *words, say='codewhalectl ' + shlex.join(words), **more)

    def asked_by(self, command, key, **more):
        """Run a command that needs a person, with a real approver in a terminal of its own that presses a key at the card."""
        approver = Approver(self.environment)
        try:
            words = ['codewhalectl' if word == CTL else word for word in command]
            print(f'\n$ {shlex.join(words)}', flush=True)
            caller = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      env=self.environment)
            card = approver.wait_for_card()
            print('  … the call waits. In another terminal, where "codewhalectl approve --watch" runs, a card appears:')
            self.show('\n'.join('│ ' + line for line in card.splitlines() if line.strip()))
            print(f'  … the person presses "{key}".')
            approver.press(key)
            output = caller.communicate(timeout=60)[0]
            more.get('show', self.show)(output)
            if caller.returncode:
                print(f'  (exit status {caller.returncode})')
            expect = more.get('expect', 0)
            if (caller.returncode == 0) != (expect == 0):
                raise RuntimeError(f'the call ended with {caller.returncode}')
            return output
        finally:
            approver.close()


class Approver:
    """codewhalectl approve --watch, in a terminal of its own."""

    def __init__(self, environment):
        self.terminal, inner = pty.openpty()
        self.process = subprocess.Popen([CTL, '--color=never', 'approve', '--watch'], stdin=inner, stdout=inner, stderr=inner,
                                        env={**environment, 'TERM': 'dumb', 'COLUMNS': '110'}, start_new_session=True)
        os.close(inner)
        self.seen = ''
        self.read_until(lambda text: text.strip(), 10)
        time.sleep(0.2)
        self.seen = ''

    def read_until(self, is_enough, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.3)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors='replace').replace('\r', '')
            elif is_enough(self.seen):
                return self.seen
        raise TimeoutError(f'the approver showed nothing new:\n{self.seen}')

    def wait_for_card(self):
        return self.read_until(lambda text: '[n] deny' in text, 20)

    def press(self, key):
        time.sleep(1)
        os.write(self.terminal, key.encode())

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        os.close(self.terminal)


def busctl_call(tool, arguments):
    return ['busctl', '--user', '--timeout=60', 'call', BUS_NAME, BUS_PATH, f'{BUS_NAME}.Tools', 'Call', 'ssa{sv}', tool, arguments, '0']


def install(tour):
    tour.heading('Install a bundle', 'A bundle is a folder. Installing copies it and trusts nothing: what is installed is disabled and unreviewed.')
    tour.ctl('install', str(ROOT / 'data' / 'samples' / 'counter'))
    tour.ctl('list')
    tour.heading('Review, trust, enable', '''The review says what the bundle is and asks for, and ends in a token over exactly these
        bytes and wishes. Trusting takes that token; one changed byte makes it worthless. Trusted is still not enabled.''')
    tour.ctl('review', 'counter', limit=40)
    token = json.loads(tour.output(CTL, '--json', 'review', 'counter')[1])['token']
    tour.ctl('trust', 'counter', token.replace(token[:8], '00000000', 1), expect=7)
    print('\n  Trusting is a personal act: no program can do it for itself, a person has to confirm.')
    tour.asked_by([CTL, 'trust', 'counter', token], 'y')
    tour.ctl('enable', 'counter')
    tour.ctl('list')


def call(tour):
    tour.heading('Call it: nobody there to ask', '''An extension's tool always needs a person's yes. With no approver on the bus the call fails at
        once, with an error name of its own, instead of hanging.''')
    tour.run(*busctl_call('mod_counter', '{"label":"first"}'), expect=1)
    tour.run('gdbus', 'call', '--session', '--dest', BUS_NAME, '--object-path', BUS_PATH, '--method', f'{BUS_NAME}.Tools.Call',
             'mod_counter', '{"label":"first"}', '{}', expect=1)
    tour.heading('Call it: a person allows', 'The same call through plain busctl, now with an approver in a terminal.')
    tour.asked_by(busctl_call('mod_counter', '{"label":"first"}'), 'y')
    tour.heading('Call it: a person denies')
    tour.asked_by(busctl_call('mod_counter', '{"label":"second"}'), 'n', expect=1)
    tour.heading('Call it: the extension itself denies', '''The counter listens before tools run and refuses the label "blocked". No card is shown:
        there is nothing left for a person to decide.''')
    tour.run(*busctl_call('mod_counter', '{"label":"blocked"}'), expect=1)
    tour.heading('Call it: arguments that do not fit', 'The JSON Schema of the tool is checked before anything is asked or started.')
    tour.ctl('call', 'mod_counter', '{"label": 7}', expect=2)


def other_parts(tour):
    tour.heading('A command and a prompt section', 'Commands are for people; prompt sections are for the model. Both come from the same bundle.')
    tour.ctl('run', 'mod-count')
    tour.ctl('prompt')


def restart(tour):
    tour.heading('What is stored survives', '''The service is stopped: every host goes down with it, nothing keeps running. Started again, the extension
        is back and its count is where it was.''')
    tour.stop_service()
    print('\n  (the service was stopped)')
    tour.run('systemctl', '--user', 'list-units', '--all', '--no-legend', '--plain', 'codewhale-host-*',
             say="systemctl --user list-units --all 'codewhale-host-*'     # nothing is left")
    tour.start_service()
    print('  (and started again)')
    for _ in range(100):
        if 'mod-count' in tour.output(CTL, 'commands')[1]:
            break
        time.sleep(0.1)
    tour.ctl('run', 'mod-count')


def walls(tour):
    tour.heading('What the sandbox looks like from inside', '''Each extension runs in a systemd unit of its own. Before any of its code runs, a launcher tries from
        inside what must fail and reports; one wall that does not hold refuses the extension.''')
    plugin = json.loads(tour.output(CTL, '--json', 'show', 'counter')[1])
    unit = plugin.get('host', {}).get('unit') or plugin.get('unit') or ''
    path = next(row.split()[0] for row in tour.output('busctl', '--user', 'tree', '--list', BUS_NAME)[1].splitlines() if '/plugin/' in row)
    reply = tour.output('busctl', '--user', '--json=short', 'get-property', BUS_NAME, path, f'{BUS_NAME}.Plugin', 'Sandbox')[1]
    report = json.loads(json.loads(reply)['data'])
    print(f'\n$ busctl --user get-property {BUS_NAME} {path} {BUS_NAME}.Plugin Sandbox')
    for check in report['checks']:
        print(f'  {"holds " if check["held"] else "BROKEN"}  {check["name"]:20} {check["detail"]}')
    unit = unit or json.loads(tour.output('busctl', '--user', '--json=short', 'get-property', BUS_NAME, path, f'{BUS_NAME}.Plugin', 'Unit')[1])['data']
    tour.run('systemctl', '--user', '--no-pager', '--lines=0', 'status', unit, limit=14)
    tour.ctl('doctor')
    tour.heading('What a curious extension can reach', 'A second bundle, written to look around with everything that its runtime offers.')
    bundle = tour.base / 'curious'
    (bundle / 'native').mkdir(parents=True)
    (bundle / 'native' / 'curious.mjs').write_text(CURIOUS)
    (bundle / 'plugin.json').write_text(json.dumps({
        '$schema': 'https://agent-plugins.org/schemas/plugin.json', 'name': 'curious', 'version': '1.0.0', 'description': 'Looks around.',
        'license': 'MIT', 'extensions': {'net.codewhale': {'native': {'path': 'native/curious.mjs'}}}}))
    tour.output(CTL, 'install', str(bundle))
    token = json.loads(tour.output(CTL, '--json', 'review', 'curious')[1])['token']
    approver = Approver(tour.environment)
    try:
        trusting = subprocess.Popen([CTL, 'trust', 'curious', token], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    env=tour.environment)
        approver.wait_for_card()
        approver.press('y')
        trusting.wait(60)
    finally:
        approver.close()
    tour.ctl('enable', 'curious')
    arguments = json.dumps({'home': os.path.expanduser('~'), 'bus': tour.bus_socket})
    answer = tour.asked_by([CTL, '--json', 'call', 'look_around', arguments], 'y', show=lambda text: [
        print(f'  {what:18} {how}') for what, how in json.loads(text)['structured'].items()])
    reached = [line for line in answer.splitlines() if 'REACHED' in line]
    if reached:
        raise RuntimeError(f'a wall does not hold: {reached}')


def records(tour):
    tour.heading('Who decided what', 'Every call leaves a record, the refused ones too, and each can explain itself.')
    tour.ctl('decisions')
    calls = json.loads(tour.output(CTL, '--json', 'decisions')[1])
    approved = next(row for row in calls if row.get('outcome') == 'approved' and row.get('tool') == 'mod_counter')
    tour.ctl('why', approved['call'], limit=12)


def end(tour):
    tour.heading('Disable, and it is gone', 'Disabling withdraws everything that the extension registered and ends its unit; the count is kept.')
    tour.ctl('disable', 'counter')
    tour.ctl('tools')
    tour.ctl('status')


def main():
    tour = Tour()
    try:
        tour.start()
        for part in (install, call, other_parts, restart, walls, records, end):
            part(tour)
        print('\nThat was all. The service, its bus and its files are removed now; your own state was not touched.')
        return 0
    except (RuntimeError, TimeoutError, subprocess.TimeoutExpired, StopIteration, KeyError, ValueError) as error:
        print(f'\ndemo: {type(error).__name__}: {error}', file=sys.stderr)
        print((tour.base / 'service.log').read_text(errors='replace')[-4000:], file=sys.stderr)
        return 1
    finally:
        tour.close()


if __name__ == '__main__':
    sys.exit(main())
