# SPDX-License-Identifier: MIT
"""What ends the service, in whatever its hosts are doing, while systemd's manager reads its units anew all the time: the next service
finds no unit and no process of the last one, what it says of its extensions is true, and no start is refused because of a name."""

import os
import signal
import subprocess
import threading

from codewhale import Approver, BusError, Units, iterate_until, tool_source, write_bundle
from codewhale.installed import UNIT, InstalledCase
from codewhale.units import systemctl

# Three rounds have each way and each moment once, nine have all pairs; CODEWHALE_CHURN_ROUNDS=200 goes on for longer.
WAYS = ('kill', 'restart', 'bus')
MOMENTS = ('asked', 'starting', 'up')
ROUNDS = int(os.environ.get('CODEWHALE_CHURN_ROUNDS', '3'))
NAMES = ('one', 'two', 'three')
REFUSED = ('already loaded', 'already exists', 'UnitExists')


class Churn(InstalledCase):
    def setUp(self):
        super().setUp()
        # One a moment after the other is what an operator is kept from.
        self.install(change=lambda text: text.replace('StartLimitIntervalSec=60', 'StartLimitIntervalSec=0').replace('RestartSec=1s', 'RestartSec=50ms'))
        systemctl('start', UNIT)
        self.units = Units()  # of hosts, as the service itself is there already
        self.client = self.approver = None
        self.addCleanup(self.leave)
        self.meet()
        for name in NAMES:
            self.client.bring_up(write_bundle(self.daemon.base / 'sources', name, tool_source(f"return '{name}'", name=name)))
        self.over = threading.Event()
        self.reloads = 0
        reloader = threading.Thread(target=self.reload_in_a_loop)
        reloader.start()
        self.addCleanup(reloader.join)
        self.addCleanup(self.over.set)

    def reload_in_a_loop(self):
        while not self.over.wait(0.2):
            systemctl('daemon-reload')
            self.reloads += 1

    def meet(self):
        """A connection to the service that is there now."""
        self.client = self.connect()
        iterate_until(self.answers, what='the service')
        self.approver = Approver(self.address)

    def answers(self):
        try:
            return bool(self.client.property('', 'Version'))
        except (BusError, TimeoutError):
            return False

    def leave(self):
        for one in (self.approver, self.client):
            if one:
                one.close()
        self.approver = self.client = None

    def facts(self, name):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def stir(self):
        """Hosts that start, stop and are killed, all at once; what becomes of it is nobody's concern any more."""
        for name in NAMES[:2]:
            self.client.start_tool(name, seconds=60)
        for verb in ('Disable', 'Enable'):
            self.client.start('Plugins', verb, '(sa{sv})', self.client.plugins()['three'][0], {}, seconds=60)
        self.client.start_tool('three', seconds=60)
        for pid in self.units.all_processes()[:1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def wait_for(self, moment):
        if moment == 'starting':
            iterate_until(self.units.names, what='a unit')
        elif moment == 'up':
            iterate_until(lambda: any(self.facts(name)['HostState'] == 'ready' for name in NAMES), what='a host')
        else:
            self.client.property('', 'Version')  # what was asked for before has been read

    def strike(self, way):
        before, pids = self.show('InvocationID'), self.units.all_processes()
        if way == 'kill':
            systemctl('kill', '--signal=KILL', '--kill-who=main', UNIT)
        self.leave()
        if way == 'restart':
            # Refused when a unit that is bound to it can't be read any more (see sandbox/spec.c).
            done = subprocess.run(['systemctl', '--user', 'restart', UNIT], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ''))
        elif way == 'bus':
            systemctl('restart', 'dbus.service')
        iterate_until(lambda: self.show('ActiveState') == 'active' and self.show('InvocationID') != before, 60, f'the next service after {way}')
        return pids

    def judge(self, what, pids):
        iterate_until(lambda: not [pid for pid in pids if os.path.exists(f'/proc/{pid}')], what=f'{what}: the end of every process')
        self.states_are_true(what)
        for name in NAMES:
            self.client.plugin('Enable', self.client.plugins()[name][0], seconds=60)
            self.assertEqual(self.client.tool(name, seconds=60)['content'][0]['text'], name, what)
            self.assertEqual(self.facts(name)['HostState'], 'ready', what)
        self.states_are_true(what)

    def states_are_true(self, what):
        """Every unit is some extension's that says it runs, and the other way round; no other unit is there."""
        def agree():
            facts = [self.facts(name) for name in NAMES]
            named = {fact['Unit'] for fact in facts} - {''}
            return set(self.units.names()) == named and all((fact['Unit'] == '') == (fact['HostState'] in ('idle', 'disabled')) for fact in facts)
        try:
            iterate_until(agree, 60)
        except TimeoutError:
            self.fail(f'{what}: {self.units.names()} are there, and extensions say '
                      f'{[(name, facts["HostState"], facts["Unit"]) for name, facts in ((name, self.facts(name)) for name in NAMES)]}\n{self.journal()}')

    def test_nothing_is_already_loaded(self):
        for turn in range(ROUNDS):
            way, moment = WAYS[turn % len(WAYS)], MOMENTS[(turn + turn // len(WAYS)) % len(MOMENTS)]
            self.stir()
            self.wait_for(moment)
            pids = self.strike(way)
            self.meet()
            self.judge(f'round {turn}, {way} while {moment}', pids)
        self.leave()
        systemctl('stop', UNIT)
        self.assertEqual(self.units.wait_until_all_gone(), [])
        self.assertEqual(systemctl('list-units', '--failed', '--no-legend', '--plain', 'codewhale-*').split(), [])
        said = subprocess.run(['journalctl', '--user', '--no-pager', '-o', 'cat'], stdout=subprocess.PIPE, text=True, check=False).stdout
        self.assertIn('serves org.codewhale.Extensions', said)
        self.assertEqual([line for line in said.splitlines() if any(word in line for word in REFUSED)], [])
        self.assertGreater(self.reloads, 0)
        print(f'# {ROUNDS} times ended, {self.reloads} daemon-reloads', flush=True)


del InstalledCase
