# SPDX-License-Identifier: MIT
"""The life of a host from outside: what it is told, what it does by itself, and what is blamed on whom."""

import json
import os
import signal
import time

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG
from codewhale.units import systemctl

ECHO = "return 'alive'"
# Counts its activations in a record that outlives them.
COUNTED = '''
export const inject = ['storage']
export async function apply(ctx) {
  await ctx.storage.set('runs', (await ctx.storage.get('runs') ?? 0) + 1)
  %s
}
'''
BUSY = 'const end = Date.now() + input.busy; while (Date.now() < end); return "alive"'


class SupervisionCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def path(self, name='probe'):
        return self.client.plugins()[name][1]

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.path(name))

    def describe(self, name='probe'):
        return json.loads(self.client.call('Plugin', 'Describe', path=self.path(name)))['host']

    def state(self, name='probe'):
        return self.facts(name)['HostState']

    def wait_for(self, *states, name='probe', seconds=30):
        iterate_until(lambda: self.state(name) in states, seconds, f'one of {states}')

    def kill(self, name='probe', number=signal.SIGKILL):
        for pid in self.units.processes(self.facts(name)['Unit']):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def see_a_restart(self, name='other'):
        """Another host is killed now, and is back: who died before it and was to be restarted would be back, too."""
        unit = self.facts(name)['Unit']
        self.kill(name)
        iterate_until(lambda: self.facts(name)['Unit'] not in ('', unit) and self.state(name) == 'ready', what='the restart of another')

    def runs(self, name='probe'):
        return int(self.client.call('Storage', 'Get', '(ss)', self.client.plugins()[name][0], 'runs'))

    def refuse(self, name, source):
        """Bring up what is known to fail."""
        plugin = self.client.install(self.bundle(name, source))['id']
        self.client.trust(plugin)
        with self.assertRaises(Exception) as caught:
            self.client.plugin('Enable', plugin, seconds=60)
        return caught.exception

    def alive(self, name='probe'):
        self.assertEqual(self.client.tool(name, seconds=60)['content'][0]['text'], 'alive')


class Supervision(SupervisionCase):
    def test_A04_T17_failed_bytes_are_not_tried_again_by_themselves(self):
        self.refuse('probe', COUNTED % "throw new Error('no')")
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.alive('other')
        self.assertEqual((self.runs(), self.state()), (1, 'failed'))
        # A person's reload is another matter (T17).
        self.client.call('', 'Reload')
        iterate_until(lambda: self.runs() == 2, what='the retry')

    def test_T17_a_reload_while_the_failed_host_still_ends(self):
        """An error that nobody caught ends it; it takes its time, and who reloads and calls meanwhile waits for the next run."""
        self.client.bring_up(self.bundle('probe', tool_source('''
            if (!input.fault) return 'alive'
            process.on('SIGTERM', () => {})
            setTimeout(() => { throw new Error('nobody catches this') })
            setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 20)
            await new Promise(() => {})''')))
        unit = self.facts()['Unit']
        fault = self.client.start_tool('probe', {'fault': True}, seconds=60)
        iterate_until(lambda: self.state() == 'failed', what='the fault')
        self.client.call('', 'Reload')
        self.alive()
        self.assertNotEqual(self.facts()['Unit'], unit)
        self.assertRaises(Exception, fault.result, 60)
        self.assertEqual((self.state(), self.describe()['crashes']), ('ready', 0))

    def test_S04_killed_while_it_activates(self):
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))
        plugin = self.client.install(self.bundle('probe', COUNTED % 'await new Promise(() => {})'))['id']
        self.client.trust(plugin)
        enable = self.client.start('Plugins', 'Enable', '(sa{sv})', plugin, {}, seconds=60)
        iterate_until(lambda: self.state() == 'starting' and self.facts()['Unit'] and self.units.processes(self.facts()['Unit']),
                      what='the start')
        iterate_until(lambda: self._began(), what='the activation')
        self.kill()
        with self.assertRaises(Exception):
            enable.result(60)
        self.wait_for('failed')
        self.see_a_restart()
        self.assertEqual((self.runs(), self.state(), self.state('other')), (1, 'failed', 'ready'))
        self.alive('other')

    def _began(self):
        try:
            return self.runs() == 1
        except Exception:
            return False

    def test_S05_late_answer_is_forgiven(self):
        self.client.bring_up(self.bundle('probe', tool_source(BUSY)))
        changes = []
        seen = self.client.signals('org.freedesktop.DBus.Properties', 'PropertiesChanged', self.path())
        call = self.client.start_tool('probe', {'busy': 7500}, seconds=60)
        self.assertEqual(json.loads(call.result(60))['content'][0]['text'], 'alive')
        self.wait_for('ready')
        iterate_until(lambda: any('HostState' in change[1] for change in seen), what='the news')
        changes = [change[1]['HostState'] for change in seen if 'HostState' in change[1]]
        self.assertIn('unresponsive', changes)
        self.assertEqual(self.describe()['crashes'], 0)

    def test_S09_no_call_hangs_on_a_host_that_dies(self):
        self.client.bring_up(self.bundle('probe', tool_source("await new Promise((done) => setTimeout(done, 50)); return 'alive'")))
        calls = []
        for turn in range(20):
            if turn == 8:
                self.kill()
            calls.append(self.client.start_tool('probe', seconds=60))
        outcomes = set()
        for call in calls:
            try:
                outcomes.add(json.loads(call.result(60))['content'][0]['text'])
            except Exception as error:
                outcomes.add(error.name.rsplit('.', 1)[1])
        self.assertLessEqual(outcomes, {'alive', 'HostUnavailable'})
        self.wait_for('ready', 'idle')
        self.alive()

    def test_S12_what_was_stopped_is_not_started_again(self):
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))
        plugin = self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.client.plugin('Disable', plugin)
        self.see_a_restart()
        self.client.plugin('Disable', self.client.plugins()['other'][0])
        self.assertEqual((self.state(), self.facts()['Unit'], self.units.wait_until_gone()), ('disabled', '', []))

    def test_S13_disabled_between_the_crash_and_the_restart(self):
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))
        plugin = self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.kill()
        self.client.plugin('Disable', plugin)
        self.see_a_restart()
        self.client.plugin('Disable', self.client.plugins()['other'][0])
        self.assertEqual((self.state(), self.client.tools(), self.units.wait_until_gone()), ('disabled', [], []))

    def test_uptime_alone_gives_the_budget_back(self):
        """A start that worked is no merit: the second crash still waits longer, the third is the last."""
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        for crashes in (1, 2, 3):
            self.kill()
            iterate_until(lambda: self.describe()['crashes'] == crashes, what=f'crash {crashes}')
            if crashes < 3:
                self.wait_for('ready')
                self.alive()
        self.wait_for('failed')

    def test_bus_that_ends_takes_everything_along(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.assertNotEqual(self.units.names(), [])
        self.bus.process.kill()
        self.daemon.process.wait(20)
        self.daemon.process = None
        self.assertEqual(self.units.wait_until_gone(), [])

    def test_killed_service_leaves_nothing_and_comes_back(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        for _ in range(3):
            self.alive()
            self.daemon.kill()
            self.assertEqual(self.units.wait_until_gone(), [])
            self.daemon.start()
            self.client = self.connect()
            self.approver()
            self.client.wait_for_tools('probe')
            self.assertEqual(self.state(), 'idle')

    def test_S17_killed_by_an_operator_is_not_blamed_on_memory(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        systemctl('kill', '-s', 'KILL', self.facts()['Unit'])
        iterate_until(lambda: self.describe()['crashes'] == 1, what='the crash')
        said = ' '.join(self.client.property('Plugin', 'Diagnostics', self.path()))
        self.assertIn('SIGKILL', said)
        self.assertNotIn('memory', said)
        self.wait_for('ready', 'idle')
        self.alive()

    def test_SY_03_daemon_reload_in_a_loop(self):
        self.client.bring_up(self.bundle('probe', tool_source("if (input.die) while (true); return 'alive'")))
        for turn in range(6):
            systemctl('daemon-reload')
            if turn in (2, 4):
                self.kill()
                iterate_until(lambda: self.describe()['crashes'] == turn // 2, 30, 'the crash to be noticed')
            systemctl('daemon-reload')
            iterate_until(lambda: self.state() in ('ready', 'idle'), 30, 'the host')
            self.alive()
            iterate_until(lambda: len(self.units.names()) == 1, 30, 'one unit')
        self.assertEqual(self.describe()['crashes'], 2)
        self.assertNotIn('already loaded', self.daemon.log())


class Retry(SupervisionCase):
    config = CONFIG + '[extension_host]\nnode = "/nonexistent/node"\n'

    def test_S14_launch_failure_is_tried_again_by_a_newcomer_after_a_minute(self):
        self.refuse('probe', tool_source(ECHO))
        self.assertIn('/nonexistent/node', self.facts()['Failure'])
        began = self.daemon.log().count('failed (')
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        time.sleep(1)
        self.assertEqual(self.daemon.log().count('failed ('), began)
        time.sleep(61)
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        iterate_until(lambda: self.daemon.log().count('failed (') == began + 1, what='the next attempt')
        self.assertEqual(self.describe()['crashes'], 0)


class Automatic(SupervisionCase):
    def setUp(self):
        super().setUp()
        bun = self.daemon.base / 'bun'
        bun.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 1.4.5 && exit 0\nexit 70\n')
        bun.chmod(0o755)
        node = os.environ.get('CODEWHALE_TEST_NODE')
        self.daemon.stop()
        self.daemon.write_config(CONFIG + f'[extension_host]\nruntime = "auto"\nbun = "{bun}"\n' + (f'node = "{node}"\n' if node else ''))
        self.daemon.start()
        self.client = self.connect()
        self.approver()

    def test_H10_auto_falls_back_once_and_says_why(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))
        self.alive()
        self.alive('other')
        runtime = json.loads(self.client.call('', 'Describe'))['runtime']
        self.assertEqual((runtime['wanted'], runtime['kind'], runtime['pinned']), ('auto', 'node', True))
        self.assertIn('Bun 1.4.5', runtime['fallback'])
        self.assertEqual(self.daemon.log().count('Bun did not come up'), 1)
        self.assertEqual(self.describe()['crashes'], 0)
        checks = {check['name']: check for check in json.loads(self.client.call('', 'Doctor', seconds=60))['checks']}
        self.assertIn('not Bun: Bun 1.4.5', checks['runtime']['found'])


class Isolation(SupervisionCase):
    """What one plugin does to itself is nobody else's trouble, and is told of it by name with the cause."""

    def setUp(self):
        super().setUp()
        self.client.bring_up(self.bundle('other', tool_source(ECHO, name='other')))

    def culprit(self, word, name='probe'):
        iterate_until(lambda: word in ' '.join(self.client.property('Plugin', 'Diagnostics', self.path(name))), 40, f'the cause "{word}"')
        self.assertEqual(self.describe('other')['crashes'], 0)
        self.assertEqual(self.client.property('Plugin', 'Diagnostics', self.path('other')), [])
        self.alive('other')

    def test_SY_19_spinning(self):
        self.client.bring_up(self.bundle('probe', tool_source('while (true);')))
        spinning = self.client.start_tool('probe', seconds=60)
        for _ in range(5):
            self.alive('other')
        self.culprit('heartbeat')
        self.assertRaises(Exception, spinning.result, 60)

    def test_L08_memory_is_refused_inside(self):
        self.client.bring_up(self.bundle('probe', tool_source('''
            const kept = []; while (true) kept.push(Buffer.alloc(1 << 24, 1))''')))
        with self.assertRaises(Exception) as caught:
            self.client.tool('probe', seconds=100)
        self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('ExecutionFailed', 'HostUnavailable'))
        self.alive('other')

    def test_forging_frames_is_named(self):
        self.client.bring_up(self.bundle('probe', tool_source('''
            const fs = await import("node:fs"); fs.writeSync(1, "XXXX".repeat(64)); await new Promise(() => {})''')))
        self.assertRaises(Exception, self.client.tool, 'probe', seconds=60)
        self.culprit('frame')

    def test_flooding_the_log(self):
        self.client.bring_up(self.bundle('probe', tool_source('''
            for (let i = 0; i < 20000; i++) console.error("x".repeat(100)); return "alive"''')))
        flood = self.client.start_tool('probe', seconds=60)
        self.alive('other')
        self.assertEqual(json.loads(flood.result(60))['content'][0]['text'], 'alive')

    def test_SY_20_crash_loop_is_left_alone_by_name_and_forgiven_by_a_person(self):
        plugin = self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        for crashes in (1, 2, 3):
            self.kill()
            iterate_until(lambda: self.describe()['crashes'] == crashes, what=f'crash {crashes}')
            self.alive('other')
            self.wait_for('ready', 'failed')
        self.assertEqual(self.state(), 'failed')
        self.assertIn('crashed 3 times', self.facts()['Failure'])
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.assertEqual(self.state(), 'failed')
        self.client.plugin('Disable', plugin)
        self.client.plugin('Enable', plugin)
        self.alive()
        self.assertEqual((self.describe()['crashes'], self.describe('other')['crashes']), (0, 0))

    def test_limits_are_read_back(self):
        limits = json.loads(self.client.property('Plugin', 'Limits', self.path('other')))
        for name in ('memory', 'tasks'):
            self.assertGreater(limits[name]['configured'], 0)
            self.assertIn(limits[name]['enforced'], (True, False))
            if limits[name]['enforced']:
                self.assertEqual(limits[name]['effective'], limits[name]['configured'])
            else:
                self.assertTrue(limits[name]['reason'])
