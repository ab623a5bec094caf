# SPDX-License-Identifier: MIT
"""scripts/soak [MINUTES] [--seed N]: extensions that misbehave, kills, reloads and restarts at random, for a while.

What must hold all the time: a call of a well-behaved extension is answered rightly or with an error of the service, never wrongly,
and what it was told to be stored is stored. What must hold at every check: the service answers; when all is quiet every good
extension works again; there is no unit, process or control group without a host that is wanted; the memory, descriptors and files of the service
do not grow. Prints counts; the exit status is 1 when something did not hold. The same seed makes the same choices."""

import argparse
import collections
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bundles import BAD, bad_source, good_source  # noqa: E402
from codewhale import Approver, BusError, Client, Daemon, PrivateBus, Units, iterate_until, write_bundle  # noqa: E402
from codewhale.bus import ERROR, Pending  # noqa: E402
from codewhale.units import systemctl  # noqa: E402

GOOD = ('alpha', 'beta', 'gamma')
ERAS = 8                    # lives of the service in one soak
CHECK_SECONDS = 30
BAD_AT_ONCE = 3             # more hosts at once than the machine has time for would be a test of the machine
RSS_FACTOR, RSS_SLACK = 1.25, 4 << 20
SANITIZED = 'CODEWHALE_TEST_DAEMON' in os.environ  # keeps what was given back for a while, so that its growth says nothing
DESCRIPTORS_SLACK, DESCRIPTORS_A_HOST = 8, 4  # its channel, its records, its sealed copy, an earlier one
FILES_SLACK = 40            # records and files that the bad ones may keep


class Wrong(Exception):
    """Something did not hold."""


class Soak:
    def __init__(self, seconds, seed):
        self.random = random.Random(seed)
        self.seed, self.seconds = seed, seconds
        self.counts = collections.Counter()
        self.wrong = []
        self.errors = collections.Counter()
        self.acknowledged = {}
        self.most = collections.Counter()
        self.units = Units()
        self.bus = PrivateBus()
        self.daemon = Daemon(self.bus.address)
        self.sources = self.daemon.base / 'sources'
        self.baseline = None

    # ---- the service ----

    def connect(self):
        self.client = Client(self.bus.address)
        self.approver = Approver(self.bus.address)

    def disconnect(self):
        self.client.close()
        self.approver.close()

    def set_up(self):
        self.daemon.start()
        self.connect()
        for name in GOOD:
            self.client.bring_up(write_bundle(self.sources, name, good_source(name)))
        self.enabled = self.random.sample(list(BAD), BAD_AT_ONCE)
        for kind in BAD:
            plugin = self.client.install(write_bundle(self.sources, f'bad-{kind}', bad_source(kind)))['id']
            self.client.trust(plugin)
            if kind in self.enabled:
                self.client.plugin('Enable', plugin)

    def restart(self, how):
        self.counts[f'restart {how}'] += 1
        self.disconnect()
        if how == 'kill':
            self.daemon.kill()
        else:
            status = self.daemon.stop()
            if status not in (0, None):
                self.complain(f'the service ended with {status}')
        left = self.units.wait_until_all_gone(20)
        if left:
            self.complain(f'units outlive the service: {left}')
        self.daemon.start()
        self.connect()
        self.baseline = None

    def complain(self, text):
        self.wrong.append(f'{time.strftime("%H:%M:%S")} {text}')
        print(f'WRONG: {text}', flush=True)

    # ---- calls ----

    def judge(self, pending, what, is_right, may_fail=True):
        """The answer is right, or an error with a name of the service."""
        try:
            answer = pending.result(150)
        except BusError as error:
            name = error.name.removeprefix(ERROR)
            self.errors[name] += 1
            if not error.name.startswith(ERROR) and error.name not in ('org.freedesktop.DBus.Error.NoReply',):
                self.complain(f'{what}: an error of no kind of ours: {error}')
            if not may_fail:
                self.complain(f'{what} failed although all was quiet: {error}')
            return None
        except TimeoutError:
            self.complain(f'{what}: no answer at all')
            return None
        self.counts['answers'] += 1
        value = json.loads(answer)
        if not is_right(value):
            self.complain(f'{what}: a wrong answer: {str(value)[:300]}')
        return value

    def add(self, name, may_fail=True):
        a, b = self.random.randrange(10 ** 6), self.random.randrange(10 ** 6)
        return (self.client.start_tool(f'{name}_add', {'a': a, 'b': b}, 150), f'{name}_add',
                lambda value: value.get('structured') == {'sum': a + b, 'who': name}, may_fail)

    def count(self, name):
        """One at a time, so that what was acknowledged is known."""
        before = self.acknowledged.get(name, 0)
        value = self.judge(self.client.start_tool(f'{name}_count', {}, 150), f'{name}_count',
                           lambda value: value['structured']['who'] == name and value['structured']['count'] > before)
        if value:
            self.acknowledged[name] = value['structured']['count']

    def act_calls(self):
        calls = [self.add(self.random.choice(GOOD)) for _ in range(self.random.randint(1, 24))]
        self.counts['calls'] += len(calls)
        for call in calls:
            self.judge(*call)

    def act_counts(self):
        self.counts['counting calls'] += 1
        self.count(self.random.choice(GOOD))

    def act_large(self):
        self.counts['large answers'] += 1
        size = self.random.randrange(1, 700000)
        self.judge(self.client.start_tool(f'{self.random.choice(GOOD)}_large', {'size': size}, 150), 'large',
                   lambda value: value['content'][0]['text'] == 'x' * size)

    def act_command(self):
        self.counts['commands'] += 1
        name, word = self.random.choice(GOOD), f'w{self.random.randrange(10 ** 6)}'
        self.judge(self.client.start('Commands', 'Run', '(ssa{sv})', f'{name}-say', word, {}, seconds=60), 'command',
                   lambda value: value.get('text') == f'{name} {word}')

    def act_misbehave(self):
        """A bad call beside good ones: those are answered."""
        kind = self.random.choice(self.enabled)
        self.counts[f'bad {kind}'] += 1
        from gi.repository import GLib
        bad = self.client.start_tool(f'bad_{kind.replace("-", "_")}', {}, 60, deadline_ms=GLib.Variant('u', 3000))
        for call in [self.add(name) for name in GOOD]:
            self.judge(*call)
        self.judge(bad, f'bad {kind}', lambda value: True)

    def act_vanish(self):
        """A client that leaves in the middle of its calls."""
        self.counts['clients that vanish'] += 1
        other = Client(self.bus.address)
        for _ in range(self.random.randint(1, 8)):
            other.start_tool(f'{self.random.choice(GOOD)}_wait', {'ms': 5000})
        iterate_until(lambda: True)
        other.vanish()

    def act_session(self):
        self.counts['sessions'] += 1
        other = Client(self.bus.address)
        path = other.call('Sessions', 'Open', '(a{sv})', {})
        if self.random.random() < 0.5:
            other.call('Session', 'Close', path=path)
        other.close()

    def act_channel(self):
        self.counts['direct channels'] += 1
        other = Client(self.bus.address)
        channel = other.open_channel()
        name = self.random.choice(GOOD)
        pending = Pending()
        from gi.repository import GLib
        channel.connection.call(None, '/org/codewhale/Extensions', 'org.codewhale.Extensions.Tools', 'Call',
                                GLib.Variant('(ssa{sv})', (f'{name}_add', '{"a": 1, "b": 2}', {})), None, 0, 60000, None, pending.on_reply)
        self.judge(pending, 'call on a channel', lambda value: value['structured']['sum'] == 3)
        channel.close()
        other.close()

    # ---- blows ----

    def host_pids(self):
        return [pid for pid in self.units.all_processes()]

    def act_kill_host(self):
        pids = self.host_pids()
        if pids:
            self.counts['hosts killed'] += 1
            try:
                os.kill(self.random.choice(pids), self.random.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM)))
            except ProcessLookupError:
                pass

    def act_stop_unit(self):
        names = self.units.names()
        if names:
            self.counts['units stopped from outside'] += 1
            systemctl('stop', '--no-block', self.random.choice(names))

    def act_disable(self):
        self.counts['disabled and enabled'] += 1
        name = self.random.choice(GOOD)
        self.try_verb('Disable', name)
        self.try_verb('Enable', name)

    def act_other_bad(self):
        """Another way to misbehave takes the place of one."""
        self.counts['bad ones exchanged'] += 1
        place = self.random.randrange(BAD_AT_ONCE)
        self.try_verb('Disable', f'bad-{self.enabled[place]}')
        self.enabled[place] = self.random.choice([kind for kind in BAD if kind not in self.enabled])
        self.try_verb('Enable', f'bad-{self.enabled[place]}')

    def act_update(self):
        """Other bytes: taken out and put in again. What was stored stays."""
        self.counts['updated'] += 1
        name = self.random.choice(GOOD)
        source = self.sources / name / 'native' / 'main.mjs'
        source.write_text(good_source(name) + f'// {self.random.random()}\n')
        self.try_verb('Disable', name)
        self.try_verb('Uninstall', name)
        try:
            self.client.bring_up(self.sources / name)
        except BusError as error:
            self.errors[error.name.removeprefix(ERROR)] += 1

    def try_verb(self, verb, name):
        try:
            self.client.plugin(verb, name, seconds=60)
        except BusError as error:
            self.errors[error.name.removeprefix(ERROR)] += 1
            if not error.name.startswith(ERROR):
                self.complain(f'{verb} {name}: {error}')

    def act_reload(self):
        self.counts['reloads'] += 1
        self.client.call('', 'Reload')

    def act_daemon_reload(self):
        self.counts['daemon-reloads of systemd'] += 1
        systemctl('daemon-reload')

    ACTIONS = ((act_calls, 30), (act_counts, 12), (act_large, 4), (act_command, 6), (act_misbehave, 14), (act_vanish, 5), (act_session, 4),
               (act_channel, 3), (act_kill_host, 7), (act_stop_unit, 2), (act_disable, 4), (act_other_bad, 6), (act_update, 2), (act_reload, 3), (act_daemon_reload, 1))

    # ---- what must hold ----

    def measure(self):
        pid = self.daemon.process.pid
        status = Path(f'/proc/{pid}/status').read_text()
        rss = int(next(line for line in status.splitlines() if line.startswith('VmRSS')).split()[1]) << 10
        files = sum(len(names) for folder, _, names in os.walk(self.daemon.home) if '/decisions' not in folder)
        try:
            descriptors = len(os.listdir(f'/proc/{pid}/fd'))
        except PermissionError:  # the service lets nobody look into it; root's harness may
            self.counts['checks without descriptors'] += 1
            descriptors = 0
        hosts = self.client.property('', 'HostCount')
        return {'rss': rss, 'descriptors': descriptors, 'files': files, 'hosts': hosts}

    def is_quiet(self):
        """No host is on its way up or down."""
        states = [self.client.property('Plugin', 'HostState', path=row[1]) for row in self.client.plugins().values()]
        return not set(states) & {'starting', 'restarting', 'stopping', 'unresponsive'}

    def check(self):
        self.counts['checks'] += 1
        for name in GOOD:
            self.check_good(name)
        self.check_units()
        now = self.measure()
        for key, value in now.items():
            self.most[key] = max(self.most[key], value)
        if self.baseline is None:
            self.baseline = now
        elif now['rss'] > self.baseline['rss'] * RSS_FACTOR + RSS_SLACK and not SANITIZED:
            self.complain(f'memory grew from {self.baseline["rss"]} to {now["rss"]} bytes')
        elif now['descriptors'] > self.baseline['descriptors'] + DESCRIPTORS_SLACK + DESCRIPTORS_A_HOST * max(0, now['hosts'] - self.baseline['hosts']):
            self.complain(f'descriptors grew from {self.baseline["descriptors"]} ({self.baseline["hosts"]} hosts) to {now["descriptors"]} ({now["hosts"]} hosts)')
        elif now['files'] > self.baseline['files'] + FILES_SLACK + 60 * len(BAD):
            self.complain(f'files grew from {self.baseline["files"]} to {now["files"]}')

    def wait_until_quiet(self):
        try:
            iterate_until(self.is_quiet, 90, 'quiet')
        except TimeoutError as error:
            self.complain(str(error))

    def check_good(self, name):
        """It works again. A blow of a moment ago may not have been noticed yet, so it has more than one try."""
        for last in (False, False, False, True):
            self.client.call('', 'Reload')  # a host that was left alone after three blows gets another chance
            self.wait_until_quiet()
            if self.judge(*self.add(name, may_fail=not last)) is not None:
                break
            time.sleep(1)
        self.count(name)

    def check_units(self):
        """Every unit is the one that a plugin names, and has one process at most."""
        def known():
            return {self.client.property('Plugin', 'Unit', path=row[1]) for row in self.client.plugins().values()} - {''}

        def strangers():
            return set(self.units.names()) - known()
        try:
            iterate_until(lambda: not strangers(), 20, 'the end of units that nobody knows')
        except TimeoutError:
            self.complain(f'units that no plugin knows: {strangers()}')
        many = {name: pids for name in self.units.names() if len(pids := self.units.processes(name)) > 1}
        if many:
            self.complain(f'more than one process in a unit: {many}')

    # ---- the run ----

    def era(self, until):
        """One life of the service."""
        next_check = 0
        while time.monotonic() < until:
            if time.monotonic() >= next_check:
                self.check()
                next_check = time.monotonic() + min(CHECK_SECONDS, self.seconds / 6)
            actions, weights = zip(*self.ACTIONS)
            self.random.choices(actions, weights)[0](self)
            self.counts['actions'] += 1
        self.check()

    def run(self):
        begin = time.monotonic()
        eras = ERAS if self.seconds >= 120 else 2
        try:
            self.set_up()
            for number in range(eras):
                if number:
                    self.restart(self.random.choice(('kill', 'kill', 'stop')))
                self.era(begin + self.seconds * (number + 1) / eras)
            self.disconnect()
            status = self.daemon.stop()
            if status != 0:
                self.complain(f'the service ended with {status}')
            left = self.units.wait_until_all_gone(20)
            if left:
                self.complain(f'units are left: {left}')
        finally:
            if self.wrong:
                print('\n'.join(self.daemon.log().splitlines()[-60:]))
            self.daemon.remove()
            self.bus.close()
        return not self.wrong

    def report(self):
        for name, count in sorted(self.counts.items()):
            print(f'{name:32} {count}')
        for name, count in sorted(self.errors.items()):
            print(f'answered with {name:18} {count}')
        for name, most in sorted(self.most.items()):
            print(f'most {name:27} {most}')
        print(f'stored counts                    {dict(sorted(self.acknowledged.items()))}')
        print(f'seed {self.seed}, {self.seconds:g} s: {len(self.wrong)} wrong')


def main():
    parser = argparse.ArgumentParser(prog='scripts/soak', description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('minutes', nargs='?', type=float, default=30)
    parser.add_argument('--seed', type=int, default=None)
    options = parser.parse_args()
    soak = Soak(options.minutes * 60, options.seed if options.seed is not None else random.SystemRandom().randrange(2 ** 31))
    print(f'seed {soak.seed}', flush=True)
    try:
        held = soak.run()
    finally:
        soak.report()
    return 0 if held else 1


if __name__ == '__main__':
    sys.exit(main())
