# SPDX-License-Identifier: MIT
"""Rows of the contract about a host and its plugin that need the real ones and fit nowhere else."""

import json
import os
import shutil
import signal
from pathlib import Path

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG
from codewhale.terminal import run
from gi.repository import GLib

RESIDENT_KIB = 160 * 1024  # contract 3.5
ALIVE = "return 'alive'"
# Contract 3.3, and what jails the file system of the runtime as well
FLAGS = ('--no-warnings', '--no-addons', '--disable-proto=throw', '--no-experimental-sqlite', '--disable-sigusr1', '--no-global-search-paths',
         '--max-old-space-size=256', '--permission', '--allow-fs-read=/host/', '--allow-fs-read=/plugin/', '--allow-fs-read=/data/',
         '--allow-fs-write=/data/', '--allow-fs-read=/tmp/', '--allow-fs-write=/tmp/')


def _u(number):
    return GLib.Variant('u', number)


class RowCase(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def path(self, name='probe'):
        return self.client.plugins()[name][1]

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.path(name))

    def describe(self, name='probe'):
        return json.loads(self.client.call('Plugin', 'Describe', path=self.path(name)))['host']

    def main_pid(self, name='probe'):
        [pid] = [pid for pid in self.units.processes(self.facts(name)['Unit'])]
        return pid

    def kill(self, name='probe'):
        for pid in self.units.processes(self.facts(name)['Unit']):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Launch(RowCase):
    def test_H04_flags_stand_before_the_bundle_and_the_tier_is_last(self):
        self.client.bring_up(self.bundle('probe', tool_source(ALIVE)))
        words = Path(f'/proc/{self.main_pid()}/cmdline').read_bytes().split(b'\0')[:-1]
        at = words.index(b'/host/codewhale-extension-host.mjs')
        self.assertEqual(words[at + 1:], [b'--tier=plugin'])
        flags = words[1:at]
        self.assertTrue(all(flag.startswith(b'--') for flag in flags), flags)
        # Exactly these, and what only the newer Node has.
        major = int(json.loads(self.client.call('', 'Describe'))['runtime']['version'].split('.')[0])
        newer = ['--no-experimental-ffi'] if major >= 26 else []
        self.assertEqual(sorted(flag.decode() for flag in flags), sorted([*FLAGS, *newer]))

    def test_H05_options_for_the_runtime_are_set_and_empty(self):
        self.client.bring_up(self.bundle('probe', tool_source(ALIVE)))
        variables = dict(word.split(b'=', 1) for word in Path(f'/proc/{self.main_pid()}/environ').read_bytes().split(b'\0') if word)
        self.assertEqual(variables.pop(b'NODE_OPTIONS'), b'')
        self.assertLessEqual(set(variables), {b'PATH', b'HOME', b'TMPDIR', b'LANG', b'TZ'})

    def test_H09_a_host_with_one_plugin_keeps_its_budgets(self):
        """Start to active within 20 s, which is how long the call may take; resident size by the kernel's own count."""
        plugin = self.client.install(self.bundle('probe', tool_source(ALIVE)))['id']
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin, seconds=20)
        status = Path(f'/proc/{self.main_pid()}/status').read_text()
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith('VmRSS:'))
        self.assertLess(resident, RESIDENT_KIB)

    def test_H13_a_replaced_runtime_is_refused_and_no_other_is_looked_for(self):
        runtime = os.environ.get('CODEWHALE_TEST_NODE') or shutil.which('node')
        copy = self.daemon.base / 'node'
        shutil.copy(os.path.realpath(runtime), copy)
        self.daemon.stop()
        self.daemon.write_config(CONFIG + f'[extension_host]\nnode = "{copy}"\n')
        self.daemon.start()
        self.client = self.connect()
        self.approver()
        self.client.bring_up(self.bundle('probe', tool_source(ALIVE)))
        self.assertTrue(os.path.samefile(f'/proc/{self.main_pid()}/exe', copy))
        other = self.daemon.base / 'other'
        shutil.copy('/bin/true', other)
        other.rename(copy)
        self.kill()
        iterate_until(lambda: self.facts()['HostState'] == 'failed', what='the refusal')
        self.assertFails('HostUnavailable', self.client.tool, 'probe')
        self.assertEqual(self.units.wait_until_gone(), [])


class Calls(RowCase):
    def test_FR_12_large_texts_arrive_whole(self):
        self.client.bring_up(self.bundle('probe', tool_source("return 'x'.repeat(input.size) + 'end'")))
        for size in (17000, 1024 * 1024 - 4096):
            text = self.client.tool('probe', {'size': size}, seconds=60)['content'][0]['text']
            self.assertEqual((len(text), text[-3:]), (size + 3, 'end'))

    def test_O02_a_tool_is_deferred_and_neither_read_only_nor_parallel(self):
        self.client.bring_up(self.bundle('probe', tool_source(ALIVE)))
        described = json.loads(self.client.call('Tools', 'Describe', '(sa{sv})', 'probe', {}))
        self.assertEqual([described[key] for key in ('approval', 'read_only', 'parallel', 'loading')], ['required', False, False, 'deferred'])

    def command(self, body):
        self.client.bring_up(self.bundle('probe', f"""
            export const inject = ['commands']
            export const apply = ctx => {{
              ctx.commands.register({{ name: 'do-it', description: 'd', argumentHint: 'what', handler: async (input) => {{ {body} }} }}) }}"""))

    def test_C07_a_deadline_cancels_and_the_host_serves_the_next(self):
        self.command("""
            if (input.args !== 'wait') return input.args === 'seen' ? String(globalThis.seen) : 'done'
            await new Promise(done => input.signal.addEventListener('abort', () => { globalThis.seen = 'cancelled'; done() }))""")
        unit = self.facts()['Unit']
        self.assertFails('DeadlineExceeded', self.client.command, 'do-it', 'wait', deadline_ms=_u(400))
        self.assertEqual(self.client.command('do-it', 'now')['text'], 'done')
        iterate_until(lambda: self.client.command('do-it', 'seen')['text'] == 'cancelled', what='the cancellation')
        self.assertEqual(self.facts()['Unit'], unit)

    def test_C08_S15_T17_a_command_of_a_host_that_is_down_says_why_as_everything_else(self):
        self.command("return 'done'")
        for _ in range(3):
            iterate_until(lambda: self.facts()['HostState'] in ('ready', 'failed'), what='the start')
            unit = self.facts()['Unit']
            self.kill()
            iterate_until(lambda: self.facts()['Unit'] != unit or self.facts()['HostState'] == 'failed', what='the end of the host')
        iterate_until(lambda: self.facts()['HostState'] == 'failed', what='the end of its crash budget')
        error = self.assertFails('HostUnavailable', self.client.command, 'do-it')
        self.assertIn(self.facts()['Failure'], error.message)
        self.assertEqual(self.describe()['reason'], self.facts()['Failure'])
        self.client.call('', 'Reload')
        iterate_until(lambda: self.facts()['HostState'] == 'ready', what='the start')
        self.assertEqual(self.client.command('do-it')['text'], 'done')


class Messages(RowCase):
    def test_S16_messages_are_few_and_short(self):
        """And in nobody's name but its own: what a forged frame says for others is dropped, whatever it calls them."""
        self.client.bring_up(self.bundle('probe', tool_source("""
            const fs = await import('node:fs')
            const frame = params => {
              const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'log', params })), head = Buffer.from('CWX1\\0\\0\\0\\0', 'latin1')
              head.writeUInt32LE(body.length, 4)
              return Buffer.concat([head, body])
            }
            for (const plugin_id of ['user/0/unknown', 'host:web', '', 'x'.repeat(1000)])
              fs.writeSync(1, frame({ level: 'error', msg: 'forged', plugin_id }))
            const log = ctx.logger('probe')
            for (let n = 0; n < 70; n++) log.warn(`<${n}> ` + 'x'.repeat(3000))
            log.info('only told')
            log.debug('hardly told')
            return 'alive'""")))
        self.client.tool('probe')
        iterate_until(lambda: any('<69>' in text for text in self.describe()['diagnostics']), what='the last message')
        texts = self.describe()['diagnostics']
        self.assertEqual([text.split()[0] for text in texts], [f'<{n}>' for n in range(6, 70)])
        self.assertTrue(all(text.endswith('…') and len(text.encode()) <= 2048 + len('…'.encode()) for text in texts))
        self.assertEqual((self.facts()['HostState'], self.describe()['crashes']), ('ready', 0))
        page = run(self.bus.address, 'show', 'probe').stdout
        self.assertEqual([line.split()[0] for line in page.partition('Host diagnostics')[2].splitlines()[1:]],
                         ['(44', *(f'<{n}>' for n in range(50, 70))])


del RowCase, ServiceCase
