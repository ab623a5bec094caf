# SPDX-License-Identifier: MIT
"""Rows of the contract about owners and their entries that need the real service and the real host (contract 11.7)."""

import json
from pathlib import Path

from codewhale import BusError, is_error, iterate_until, options, tool_source
from test_supervision import ECHO, SupervisionCase

BROKEN = "export const apply = () => { throw new Error('NAME is broken') }"
# Its call goes on, whatever is changed meanwhile, until the test lets it: then it tries what only a present activation may.
LATE = '''
import fs from 'node:fs'
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
export const inject = ['tools', 'storage']
export function apply(ctx) {
  const tool = (name, execute) => ctx.tools.register({ name, description: 'd', parameters: { type: 'object' }, execute })
  const dispose = tool('probe', async () => {
    fs.writeFileSync('/data/began', '')
    while (!fs.existsSync('/data/go')) await sleep(20)
    ctx.logger('probe').error('said too late')
    tool('late', () => 'x')
    const stored = await ctx.storage.set('late', 1).then(() => 'stored', (error) => error.code)
    await dispose()
    fs.writeFileSync('/data/said', stored)
    setTimeout(() => { throw new Error('broken too late') })
    await new Promise(() => {})
  })
}
'''


class Entries(SupervisionCase):
    def pair(self, **entries):
        files = {f'native/{name}.mjs': source for name, source in entries.items()}
        return self.bundle('probe', files=files, native={'paths': list(files)})

    def test_A02_one_that_fails_is_named_and_its_siblings_work(self):
        self.client.bring_up(self.pair(first=tool_source(ECHO, name='first'), second=BROKEN.replace('NAME', 'the second'),
                                       third=tool_source(ECHO, name='third')))
        self.assertEqual(self.client.tools(), ['first', 'third'])
        for name in self.client.tools():
            self.alive(name)
        entries = self.describe()['entries']
        self.assertEqual([(entry['path'], entry['state']) for entry in entries],
                         [('native/first.mjs', 'active'), ('native/second.mjs', 'failed'), ('native/third.mjs', 'active')])
        self.assertIn('the second is broken', entries[1]['failure'])
        self.assertTrue([text for text in self.describe()['diagnostics'] if 'native/second.mjs' in text and 'the second is broken' in text])
        self.assertEqual(self.state(), 'ready')

    def test_A03_when_all_fail_the_plugin_has_failed(self):
        plugin = self.client.install(self.pair(first=BROKEN.replace('NAME', 'the first'), second=BROKEN.replace('NAME', 'the second')))['id']
        self.client.trust(plugin)
        error = self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin)
        self.assertIn('the first is broken', error.message)
        self.assertEqual((self.state(), self.client.tools()), ('failed', []))
        said = ' '.join(self.client.property('Plugin', 'Diagnostics', self.path()))
        self.assertIn('the first is broken', said)
        self.assertIn('the second is broken', said)


class Owners(SupervisionCase):
    def in_workspace(self, client, name, source):
        """A bundle that only the sessions of a workspace have; the folder."""
        folder = self.daemon.base / name
        self.bundles = folder / '.codewhale' / 'plugins'
        self.bundles.mkdir(parents=True)
        self.bundle(name, source)
        plugin = next(row[0] for row in client.call('Plugins', 'List', '(a{sv})', options(workspace=str(folder))) if row[2] == name)
        client.trust(plugin)
        client.plugin('Enable', plugin)
        return str(folder)

    def test_A20_O14_two_sessions_in_two_workspaces_do_not_disturb_each_other(self):
        other = self.connect()
        source = '''
            const fs = await import('node:fs')
            fs.writeFileSync('/data/began', '')
            while (input.wait && !fs.existsSync('/data/go')) await new Promise((done) => setTimeout(done, 20))
            return exec.workspace'''
        folders = {name: self.in_workspace(client, name, tool_source(source, name=f'{name}_tool'))
                   for client, name in ((self.client, 'one'), (other, 'two'))}
        one, two = (client.call('Sessions', 'Open', '(a{sv})', options(workspace=folders[name]))
                    for client, name in ((self.client, 'one'), (other, 'two')))
        self.assertEqual((self.client.tools(session=one), other.tools(session=two)), (['one_tool'], ['two_tool']))
        self.assertFails('NoSuchTool', self.client.tool, 'two_tool', session=one)
        self.assertEqual(other.tool('two_tool', session=two)['content'][0]['text'], folders['two'])
        call = self.client.start_tool('one_tool', {'wait': True}, session=one, seconds=60)
        self.wait_until_it_runs('one')
        # The other one reloads, and leaves with its session, while the call runs.
        other.call('', 'Reload')
        other.call('Session', 'Close', path=two)
        other.vanish()
        self.client.call('', 'Reload')
        iterate_until(lambda: 'two' not in self.client.plugins(), what='the end of what nobody wants any more')
        self.let_go('one')
        self.assertEqual(json.loads(call.result(60))['content'][0]['text'], folders['one'])
        self.assertEqual((self.client.tools(session=one), self.state('one')), (['one_tool'], 'ready'))

    def data(self, name='probe'):
        [folder] = (self.daemon.home / 'extensions' / 'data').glob(f'{name}-*')
        return folder / 'files'

    def wait_until_it_runs(self, name='probe'):
        iterate_until(lambda: (self.data(name) / 'began').exists(), what='the call')

    def let_go(self, name='probe'):
        (self.data(name) / 'go').write_text('')

    def test_A25_A16_A17_a_host_of_an_earlier_generation_changes_nothing(self):
        """What is still working on earlier bytes registers, withdraws, stores, says and breaks nothing of its successor."""
        plugin = self.client.bring_up(self.bundle('probe', LATE))
        call = self.client.start_tool('probe', seconds=60)
        self.wait_until_it_runs()
        source = Path(self.facts()['Root']) / 'native' / 'main.mjs'
        source.chmod(0o600)
        source.write_text(tool_source(ECHO))
        self.client.call('', 'Reload')
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        unit = self.facts()['Unit']
        self.alive()
        self.assertEqual(len(self.units.names()), 2, 'the earlier one still works')
        self.let_go()
        iterate_until(lambda: (self.data() / 'said').exists(), what='its attempts')
        self.assertEqual((self.data() / 'said').read_text(), 'not_available')
        # Its error is its own, and ends what it was working on.
        with self.assertRaises(BusError) as caught:
            call.result(60)
        self.assertTrue(is_error(caught.exception, 'Cancelled'), caught.exception)
        iterate_until(lambda: self.units.names() == [unit], what='the end of the earlier one')
        self.alive()
        self.assertEqual((self.client.tools(), self.state(), self.facts()['Unit']), (['probe'], 'ready', unit))
        self.assertEqual(self.client.call('Storage', 'List', '(s)', plugin), [])
        self.assertFalse([text for text in self.describe()['diagnostics'] if 'too late' in text])

    def test_A26_enabled_again_it_has_a_new_owner(self):
        """The same bytes, another activation: nothing of the old one answers, and its state is where it was."""
        plugin = self.client.bring_up(self.bundle('probe', tool_source('''
            const runs = (await ctx.storage.get('runs') ?? 0) + 1
            await ctx.storage.set('runs', runs)
            if (input.wait) await new Promise(() => {})
            return String(runs)''', inject=('tools', 'storage'))))
        old = self.client.start_tool('probe', {'wait': True}, seconds=60)
        iterate_until(lambda: self.client.call('Storage', 'List', '(s)', plugin), what='the call')
        unit = self.facts()['Unit']
        self.client.plugin('Disable', plugin)
        self.assertFails('Cancelled', old.result, 60)
        self.assertFails('NoSuchTool', self.client.tool, 'probe')
        self.client.plugin('Enable', plugin)
        self.assertNotIn(self.facts()['Unit'], ('', unit))
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], '2')


del SupervisionCase
