# SPDX-License-Identifier: MIT
"""codewhalectl top, and the properties that it stands on."""

import fcntl
import json
import os
import re
import signal
import struct
import termios
import time

from codewhale import SAMPLES, BusError, ServiceCase, iterate_until, tool_source
from codewhale.terminal import Terminal, run

NUMBERS = ('MemoryCurrent', 'TasksCurrent', 'CPUUsageUSec', 'SinceUSec', 'MemoryMax', 'TasksMax', 'Calls', 'Failures', 'Pending')
UNLIMITED = 2 ** 64 - 1


class Properties(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def numbers(self, name):
        facts = self.client.properties('Plugin', path=self.client.plugins()[name][1])
        return {key: facts[key] for key in NUMBERS}

    def test_numbers_of_a_host_that_runs_and_of_none(self):
        plugin = self.client.bring_up(self.bundle('probe', tool_source(
            'if (input.fail) throw new Error("as asked"); if (input.wait) await new Promise(() => {}); return "x"')))
        before = time.time_ns() // 1000
        self.client.tool('probe')
        with self.assertRaises(BusError):
            self.client.tool('probe', {'fail': True})
        self.client.start_tool('probe', {'wait': True})
        iterate_until(lambda: self.numbers('probe')['Pending'] == 1, what='a call that runs')
        found = self.numbers('probe')
        self.assertEqual((found['Calls'], found['Failures']), (2, 1))
        # With control groups of version 1 a user manager has no group of the host to read from.
        for key in ('MemoryCurrent', 'TasksCurrent', 'CPUUsageUSec') if os.path.exists('/sys/fs/cgroup/cgroup.controllers') else ():
            self.assertGreater(found[key], 0)
        self.assertTrue(0 < found['SinceUSec'] <= before + 60 * 10 ** 6)
        self.assertIn(found['TasksMax'], range(1, UNLIMITED + 1))
        limits = json.loads(self.client.property('Plugin', 'Limits', path=self.client.plugins()['probe'][1]))
        for key, limit in (('memory', found['MemoryMax']), ('tasks', found['TasksMax'])):
            self.assertEqual(limit, limits[key]['effective'] if limits[key]['enforced'] else UNLIMITED)

        self.client.plugin('Disable', plugin)
        found = self.numbers('probe')
        self.assertEqual({key: found[key] for key in NUMBERS[:6]}, dict.fromkeys(NUMBERS[:6], 0))
        self.assertEqual(found['Pending'], 0)

    def test_a_refused_call_is_no_failure_of_the_plugin(self):
        self.client.bring_up(SAMPLES / 'counter')
        self.assertFails('HookDenied', self.client.tool, 'mod_counter', {'label': 'blocked'})
        self.assertFails('InvalidArguments', self.client.tool, 'mod_counter', {'label': 5})
        self.assertEqual((self.numbers('counter')['Calls'], self.numbers('counter')['Failures']), (0, 0))

    def test_many_changes_are_few_signals(self):
        """At most ten rounds a second, and the last one tells how it is."""
        plugin = self.client.install(self.bundle('quiet', files={'skills/one/SKILL.md': '---\nname: one\ndescription: d\n---\nText.\n'}))['id']
        self.client.trust(plugin)
        path = self.client.plugins()['quiet'][1]
        signals = self.client.signals('org.freedesktop.DBus.Properties', 'PropertiesChanged', path)
        changes, begin = 400, time.monotonic()
        calls = [self.client.start('Plugins', 'Disable' if number % 2 else 'Enable', '(sa{sv})', plugin, {}, seconds=60)
                 for number in range(changes)]
        done = 0
        for call in calls:
            try:
                call.result(60)
                done += 1
            except BusError as error:
                self.assertEqual(error.name, 'org.codewhale.Extensions.Error.Busy')
        self.assertGreater(done, 50)
        iterate_until(lambda: any('Generation' in signal[1] for signal in signals), what='a signal')
        generation = self.client.property('Plugin', 'Generation', path=path)
        iterate_until(lambda: signals[-1][1].get('Generation') == generation, what='the last state')
        self.assertLessEqual(len(signals), (time.monotonic() - begin) / 0.1 + 2)
        self.assertLess(len(signals), done)


def screen(written, columns, rows):
    """What a terminal that does not wrap shows of it: at the end of a line the last letter is written over, and erased, again and again."""
    cells, row, column = [[' '] * columns for _ in range(rows)], 0, 0
    for code, letter in re.findall(r'\033\[([?0-9;]*[a-zA-Z])|([^\033])', written):
        if code == 'H':
            row, column = 0, 0
        elif code in ('K', 'J'):
            cells[row][column:] = [' '] * (columns - column)
            if code == 'J':
                cells[row + 1:] = [[' '] * columns for _ in cells[row + 1:]]
        elif letter == '\r':
            column = 0
        elif letter == '\n':
            row = min(row + 1, rows - 1)
        elif letter:
            cells[row][column] = letter
            column = min(column + 1, columns - 1)
    return [''.join(line).rstrip() for line in cells]


class Top(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(SAMPLES / 'counter')
        self.client.bring_up(self.bundle('zebra', tool_source("return 'x'", name='zebra_tool')))
        self.client.tool('mod_counter')

    def terminal(self, *words):
        terminal = Terminal(self.bus.address, 'top', '--interval=0.2', *words)
        self.addCleanup(terminal.close)
        return terminal

    def test_json_once(self):
        done = run(self.bus.address, '--json', 'top')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        found = json.loads(done.stdout)
        rows = {row['name']: row for row in found['plugins']}
        self.assertEqual((found['active'], found['hosts'], set(rows)), (2, 2, {'counter', 'zebra'}))
        self.assertEqual((rows['counter']['calls'], rows['zebra']['calls'], rows['counter']['host_state']), (1, 0, 'ready'))
        self.assertTrue(rows['counter']['unit'].startswith('codewhale-host-'))
        limits = json.loads(self.client.property('Plugin', 'Limits', path=self.client.plugins()['counter'][1]))
        for key in ('memory', 'tasks'):
            self.assertEqual((rows['counter'][f'{key}_configured'], rows['counter'][f'{key}_max']), (limits[key]['configured'], limits[key]['effective']))
        self.assertEqual(rows['counter'].get('not_enforced'), limits['memory'].get('reason') or limits['tasks'].get('reason'))

    def test_pipe_gets_one_view_without_colours(self):
        for words in ((), ('--once',), ('--sort=name', '-n', '3')):
            done = run(self.bus.address, 'top', *words)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertNotIn('\033', done.stdout)
            self.assertEqual(done.stdout.count('PLUGIN'), 1)
            self.assertRegex(done.stdout, r'counter +ready')
            self.assertIn('2 plugins, 2 active, 2 hosts', done.stdout)
            # What is configured and not in force stands in brackets, with the reason below.
            self.assertEqual('(1.0G)' in done.stdout, 'configured, not enforced: the' in done.stdout)
            self.assertIn('1.0G', done.stdout)

    def test_order(self):
        def names(order):
            lines = run(self.bus.address, 'top', f'--sort={order}').stdout.splitlines()
            return [line.split()[0] for line in lines if line.startswith(('counter ', 'zebra '))]
        self.assertEqual(names('name'), ['counter', 'zebra'])
        self.assertEqual(names('calls'), ['counter', 'zebra'])
        self.client.tool('zebra_tool')
        self.client.tool('zebra_tool')
        self.assertEqual(names('calls'), ['zebra', 'counter'])

    def test_wrong_options(self):
        for words in (['--sort=size'], ['--interval=0'], ['--interval=x'], ['-n', '0'], ['extra']):
            self.assertEqual(run(self.bus.address, 'top', *words).returncode, 2, words)

    def test_screen_is_drawn_again_and_put_back(self):
        terminal = self.terminal()
        terminal.read_until(r'\033\[\?1049h')
        for _ in range(3):
            frame = terminal.read_until(r'\033\[J')
            self.assertTrue(frame.lstrip('\033[?25l\033[?7l').startswith('[H') or '\033[H' in frame)
            self.assertNotIn('\033[2J', frame, 'clearing all of it flickers')
        self.assertFalse(terminal.echoes())
        terminal.type('n')
        terminal.read_until('by name')
        self.client.tool('mod_counter')
        terminal.read_until('2 calls')
        terminal.type('q')
        self.assertEqual(terminal.wait(), 0)
        self.assertIn('\033[?1049l', terminal.seen)
        self.assertIn('\033[?25h', terminal.seen)

    def test_a_smaller_screen(self):
        terminal = self.terminal()
        terminal.read_until('q quit')
        fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack('HHHH', 6, 40, 0, 0))
        terminal.read_until(r'\033\[J')
        terminal.seen = ''
        frame = terminal.read_until(r'\033\[J')
        self.assertNotIn('LIMIT', frame)
        self.assertLessEqual(frame.count('\r\n'), 5)

    def test_every_line_is_whole_and_what_does_not_fit_is_said(self):
        plugin = self.client.install(self.bundle('broken', "export function apply() { throw new Error('x'.repeat(500)) }"))['id']
        self.client.trust(plugin)
        with self.assertRaises(BusError):
            self.client.plugin('Enable', plugin)
        terminal = self.terminal()
        for columns, rows, cut in ((70, 30, False), (70, 8, True), (200, 6, True), (70, 1, True), (1, 1, True), (3, 2, True)):
            terminal.resize(columns, rows)
            terminal.read_until(r'\033\[J')
            terminal.seen = ''
            terminal.read_until(r'\033\[H')
            lines = screen(terminal.read_until(r'(?=\033\[H)'), columns, rows)
            if not cut:
                line = next(line for line in lines if line.startswith('broken: '))
                self.assertEqual((len(line), line[-9:]), (columns, 'xxxxxxxxx'))
            if rows > 4:
                self.assertIn('q quit', ' '.join(lines))
                self.assertEqual('more lines' in ' '.join(lines), cut, lines)

    def test_a_terminal_that_can_do_nothing_gets_one_view(self):
        terminal = Terminal(self.bus.address, 'top', TERM='dumb')
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.wait(), 0)
        self.assertIn('zebra', terminal.seen)
        self.assertNotIn('\033', terminal.seen)

    def test_ends_after_some_views_and_with_ctrl_c(self):
        self.assertEqual(self.terminal('-n', '2').wait(), 0)
        terminal = self.terminal()
        terminal.read_until('q quit')
        os.kill(terminal.process, signal.SIGINT)
        self.assertEqual(terminal.wait(), 0)
        self.assertIn('\033[?1049l', terminal.seen)

    def test_waits_for_a_service_that_is_started_again(self):
        terminal = self.terminal()
        terminal.read_until('q quit')
        self.daemon.stop()
        terminal.read_until('does not answer')
        self.daemon.start()
        terminal.read_until('q quit')
        terminal.type('q')
        self.assertEqual(terminal.wait(), 0)

    def test_open_card_and_failure_are_shown(self):
        terminal = self.terminal()
        other = self.bundle('broken', "export function apply() { throw new Error('no luck today') }")
        plugin = self.client.install(other)['id']
        self.client.trust(plugin)
        with self.assertRaises(BusError):
            self.client.plugin('Enable', plugin)
        terminal.read_until('broken: .*no luck today')
