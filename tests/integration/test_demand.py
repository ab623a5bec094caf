# SPDX-License-Identifier: MIT
"""Hosts that run only while somebody needs them: listed from a record, started by the first call, stopped when idle."""

import json
import os
import time

from codewhale import ServiceCase, iterate_until, tool_source
from codewhale.daemon import CONFIG

HOST = '[extension_host]\n' + (f'node = "{os.environ["CODEWHALE_TEST_NODE"]}"\n' if os.environ.get('CODEWHALE_TEST_NODE') else '')
ECHO = "return 'alive'"
GUARD = '''
export const inject = ['storage']
export async function apply(ctx) {
  const runs = (await ctx.storage.get('runs') ?? 0) + 1
  await ctx.storage.set('runs', runs)
  if (runs > %d) throw new Error('not this time')
  ctx.on('tools/pre-execute', (call, next) => call.arguments.forbidden ? { kind: 'deny', reason: 'forbidden' } : next())
}
'''
# Registers something else each time that it runs.
FICKLE = '''
export const inject = ['tools', 'storage']
export async function apply(ctx) {
  const runs = (await ctx.storage.get('runs') ?? 0) + 1
  await ctx.storage.set('runs', runs)
  const tool = (name, description) => ctx.tools.register({ name, description, parameters: { type: 'object' }, async execute() { return description } })
  tool('same', 'always the same')
  tool('fickle', `run ${Math.min(runs, 2)}`)
  tool(runs > 1 ? 'second' : 'first', 'comes and goes')
}
'''


class DemandCase(ServiceCase):
    config = CONFIG + HOST

    def setUp(self):
        super().setUp()
        self.approver()

    def facts(self, name='probe'):
        return self.client.properties('Plugin', path=self.client.plugins()[name][1])

    def describe(self, name='probe'):
        return json.loads(self.client.call('Plugin', 'Describe', path=self.client.plugins()[name][1]))['host']

    def restart(self, config=None):
        self.daemon.stop()
        if config:
            self.daemon.write_config(config)
        self.daemon.start()
        self.client = self.connect()
        self.approver()

    def assertAsleep(self, *names):
        for name in names:
            facts = self.facts(name)
            self.assertEqual((facts['HostState'], facts['Unit'], facts['Failure']), ('idle', '', ''))

    def records(self):
        folder = self.daemon.home / 'extensions' / 'records'
        return sorted(folder.iterdir()) if folder.exists() else []


class Records(DemandCase):
    def test_listed_without_running_and_started_by_the_first_call(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO, inject=('tools', 'prompt', 'commands'), more='''
            ctx.prompt.registerSection({ id: 'about', text: 'There is a probe.' })
            ctx.commands.register({ name: 'probe-it', description: 'd', handler: async () => 'done' })''')))
        before = self.client.call('Tools', 'List', '(a{sv})', {})
        self.restart()
        self.assertEqual(self.client.call('Tools', 'List', '(a{sv})', {}), before)
        self.assertIn('There is a probe.', self.client.snapshot()['text'])
        self.assertEqual(self.describe()['listed_from'], 'record')
        self.assertAsleep('probe')
        self.assertEqual(self.units.names(), [])
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'alive')
        self.assertEqual(self.facts()['HostState'], 'ready')
        self.assertEqual(self.describe()['listed_from'], 'activation')
        # Nothing came or went on the way.
        self.assertEqual(self.client.call('Tools', 'List', '(a{sv})', {}), before)
        self.assertEqual(self.client.snapshot()['text'].count('There is a probe.'), 1)

    def test_sections_and_skills_that_come_again_keep_the_record(self):
        files = {'crafts/saw/SKILL.md': '---\nname: saw\ndescription: Cuts wood.\n---\nTake a saw.\n'}
        self.client.bring_up(self.bundle('probe', tool_source(ECHO, inject=('tools', 'prompt', 'skills'), more='''
            ctx.prompt.registerSection({ id: 'about', text: 'There is a probe.' })
            ctx.skills.registerRoot({ path: 'crafts' })'''), files=files))
        self.restart()
        self.assertAsleep('probe')
        iterate_until(lambda: [row[0] for row in self.client.call('Skills', 'List', '(a{sv})', {})] == ['probe:saw'], what='the skill')
        self.assertIn('Take a saw.', self.client.call('Skills', 'Load', '(sa{sv})', 'probe:saw', {}))
        self.assertEqual(self.units.names(), [], 'looking at a skill starts nothing')
        receipt = json.loads(self.client.call('Skills', 'Describe', '(sa{sv})', 'probe:saw', {}))['receipt']
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'alive')
        self.assertEqual(self.describe()['listed_from'], 'activation')
        self.assertEqual([row[0] for row in self.client.call('Skills', 'List', '(a{sv})', {})], ['probe:saw'])
        # The start that it was listed for made nothing of it stale.
        self.assertEqual(json.loads(self.client.call('Skills', 'Describe', '(sa{sv})', 'probe:saw', {}))['receipt'], receipt)
        self.assertNotIn('does not register what it did before', self.daemon.log())

    def test_skills_that_do_not_come_again_are_gone(self):
        files = {'crafts/saw/SKILL.md': '---\nname: saw\ndescription: Cuts wood.\n---\nTake a saw.\n'}
        self.client.bring_up(self.bundle('probe', tool_source(ECHO, inject=('tools', 'storage', 'skills')).replace(
            'export function apply(ctx) {', '''export async function apply(ctx) {
              const runs = await ctx.storage.get('runs') ?? 0
              await ctx.storage.set('runs', runs + 1)
              if (runs === 0) ctx.skills.registerRoot({ path: 'crafts' })'''), files=files))
        self.restart()
        iterate_until(lambda: self.client.call('Skills', 'List', '(a{sv})', {}), what='the skill')
        self.client.tool('probe')
        self.assertEqual(self.client.call('Skills', 'List', '(a{sv})', {}), [])
        self.assertIn('does not register what it did before: 0 new or different, 1 gone', self.daemon.log())

    def test_command_starts_it(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO, inject=('tools', 'commands'), more='''
            ctx.commands.register({ name: 'probe-it', description: 'd', handler: async () => 'done' })''')))
        self.restart()
        self.assertAsleep('probe')
        self.assertEqual(self.client.command('probe-it')['text'], 'done')

    def test_first_calls_share_one_start(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart()
        began = self.daemon.log().count('is active')
        calls = [self.client.start_tool('probe') for _ in range(12)]
        for call in calls:
            self.assertEqual(json.loads(call.result())['content'][0]['text'], 'alive')
        self.assertEqual(self.daemon.log().count('is active'), began + 1)

    def test_damaged_record_is_ignored_with_a_reason(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        [record] = self.records()
        good = record.read_text()
        for broken, word in ((good.replace('Made for a test.', 'Made by someone.'), 'digest'), (good[:-9], 'damaged'), ('', 'damaged'),
                             (good.replace('"format":1', '"format":1,"more":2'), 'damaged')):
            with self.subTest(word=word):
                record.write_text(broken)
                self.restart()
                self.client.wait_for_tools('probe')
                self.assertIn(word, self.describe()['no_record_because'])
                iterate_until(lambda: self.facts()['HostState'] == 'ready', what='the start in place of the record')
                # It is made anew.
                self.assertEqual(record.read_text(), good)

    def test_record_of_other_bytes_lists_nothing(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        root = self.facts()['Root']
        self.daemon.stop()
        with open(f'{root}/native/main.mjs', 'a', encoding='utf-8') as file:
            file.write('// more\n')
        self.restart()
        self.assertEqual(self.client.tools(), [])
        self.assertEqual(self.units.names(), [])

    def test_other_settings_start_it(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart(self.config + '[plugins.probe.config]\nwidth = 3\n')
        self.client.wait_for_tools('probe')
        self.assertIn('settings', self.describe()['no_record_because'])

    def test_registers_something_else_than_was_listed(self):
        self.client.bring_up(self.bundle('probe', FICKLE))
        self.assertEqual(self.client.tools(), ['same', 'fickle', 'first'])
        self.restart()
        self.assertEqual(self.client.tools(), ['same', 'fickle', 'first'])
        calls = {name: self.client.start_tool(name) for name in ('same', 'fickle', 'first')}
        self.assertEqual(json.loads(calls['same'].result())['content'][0]['text'], 'always the same')
        for name, word in (('fickle', 'differently'), ('first', 'any more')):
            with self.assertRaises(Exception) as caught:
                calls[name].result()
            self.assertTrue(caught.exception.name.endswith('.HostUnavailable'), caught.exception)
            self.assertIn(word, caught.exception.message)
        # What it registers now holds, and is what the next start lists.
        self.assertEqual(sorted(self.client.tools()), ['fickle', 'same', 'second'])
        self.assertEqual(self.client.tool('fickle')['content'][0]['text'], 'run 2')
        self.assertIn('does not register what it did before', self.daemon.log())
        self.restart()
        self.assertEqual(sorted(self.client.tools()), ['fickle', 'same', 'second'])
        self.assertEqual(self.client.tool('second')['content'][0]['text'], 'comes and goes')

    def test_partly_failed_plugin_has_no_record(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO), files={'native/more.mjs': "export function apply() { throw new Error('no') }"},
                                         native={'paths': ['native/main.mjs', 'native/more.mjs']}))
        self.assertEqual(self.records(), [])
        self.restart()
        self.client.wait_for_tools('probe')
        self.assertEqual([entry['state'] for entry in self.describe()['entries']], ['active', 'failed'])

    def test_disabled_while_it_sleeps(self):
        plugin = self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart()
        self.client.plugin('Disable', plugin)
        self.assertEqual((self.client.tools(), self.facts()['HostState']), ([], 'disabled'))
        self.client.plugin('Enable', plugin)
        self.assertEqual(self.facts()['HostState'], 'ready')

    def test_deadline_covers_the_start(self):
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart()
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        from gi.repository import GLib
        error = self.assertFails('DeadlineExceeded', self.client.tool, 'probe', deadline_ms=GLib.Variant('u', 1))
        self.assertIn('starting', error.message)
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'alive')

    def test_H07_nothing_native_starts_nothing_and_makes_no_folder(self):
        """An active plugin without code, and one with code that nobody enabled."""
        skill = '---\nname: saw\ndescription: Cuts wood.\n---\nTake a saw.\n'
        words = self.client.install(self.bundle('words', files={'skills/saw/SKILL.md': skill}))['id']
        self.client.trust(words)
        self.client.plugin('Enable', words)
        self.client.trust(self.client.install(self.bundle('probe', tool_source(ECHO)))['id'])
        self.restart()
        iterate_until(lambda: self.client.call('Skills', 'List', '(a{sv})', {}), what='the skill')
        self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.assertEqual((self.client.plugins()['words'][3], self.units.names()), ('active', []))
        self.assertEqual((self.facts('words')['HostState'], self.facts('probe')['HostState']), ('disabled', 'disabled'))
        folder = self.daemon.home / 'extensions' / 'data'
        self.assertEqual(list(folder.iterdir()) if folder.exists() else [], [])


class Idle(DemandCase):
    config = CONFIG + HOST + 'idle_sec = 1\n'

    def asleep(self, name='probe'):
        iterate_until(lambda: self.facts(name)['HostState'] == 'idle', what='the sleep')

    def test_stopped_when_nobody_needs_it_and_started_again(self):
        self.client.bring_up(self.bundle('probe', tool_source('''
            const count = (await ctx.storage.get('count') ?? 0) + 1
            await ctx.storage.set('count', count)
            return String(count)''', inject=('tools', 'storage'), more='''
            ctx.effect(() => async () => { await ctx.storage.set('cleaned', true) })''')))
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], '1')
        self.asleep()
        self.assertAsleep('probe')
        self.assertEqual(self.units.wait_until_gone(), [])
        self.assertEqual(self.client.tools(), ['probe'])
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], '2')
        self.assertEqual(self.describe()['crashes'], 0)

    def test_call_in_progress_and_open_card_keep_it_up(self):
        self.client.bring_up(self.bundle('probe', tool_source("await new Promise((done) => setTimeout(done, 3500)); return 'late'")))
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'late')

    def test_what_was_registered_later_keeps_it_up(self):
        self.client.bring_up(self.bundle('probe', tool_source('''
            ctx.tools.register({ name: 'later', description: 'd', parameters: { type: 'object' }, async execute() { return 'x' } })
            return "registered" ''')))
        self.client.tool('probe')
        self.client.wait_for_tools('probe', 'later')
        time.sleep(2.5)
        self.assertEqual(self.facts()['HostState'], 'ready')
        self.assertTrue(self.describe()['changed_since_activation'])

    def test_eager_one_is_left_running_and_runs_from_the_start(self):
        self.daemon.write_config(self.config + '[plugins.probe]\nactivation = "eager"\n')
        self.client.call('', 'Reload')
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.assertEqual(self.facts()['Activation'], 'eager')
        time.sleep(2.5)
        self.assertEqual(self.facts()['HostState'], 'ready')
        self.restart()
        iterate_until(lambda: self.facts()['HostState'] == 'ready', what='the start')
        # On demand again, also for what runs.
        self.daemon.write_config(self.config)
        self.client.call('', 'Reload')
        self.asleep()


class Listeners(DemandCase):
    def test_listener_is_started_before_the_decision(self):
        self.client.bring_up(self.bundle('guard', GUARD % 9))
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart()
        self.assertAsleep('guard', 'probe')
        self.assertIn('forbidden', self.assertFails('HookDenied', self.client.tool, 'probe', {'forbidden': True}).message)
        self.assertEqual(self.facts('guard')['HostState'], 'ready')
        # What was refused did not wake its own host.
        self.assertAsleep('probe')
        self.assertEqual(self.client.tool('probe')['content'][0]['text'], 'alive')

    def test_listener_that_does_not_start_denies(self):
        self.client.bring_up(self.bundle('guard', GUARD % 1))
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        self.restart()
        self.assertFails('HookFailed', self.client.tool, 'probe')
        self.assertAsleep('probe')
        self.assertIn('not this time', self.facts('guard')['Failure'])

    def test_listener_of_a_crashed_plugin_is_waited_for(self):
        self.client.bring_up(self.bundle('guard', GUARD % 9))
        self.client.bring_up(self.bundle('probe', tool_source(ECHO)))
        for pid in self.units.processes(self.facts('guard')['Unit']):
            os.kill(pid, 9)
        iterate_until(lambda: self.facts('guard')['HostState'] == 'restarting', what='the crash')
        self.assertIn('forbidden', self.assertFails('HookDenied', self.client.tool, 'probe', {'forbidden': True}).message)
