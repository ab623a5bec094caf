# SPDX-License-Identifier: MIT
"""What one session may use: what it chose, and what of its own wins (contract 3.13, 4.1, 4.2.1)."""

import json
from pathlib import Path

from codewhale import ServiceCase, options, tool_source
from gi.repository import GLib

SECTION = "ctx.prompt.registerSection({ id: 'note', text: 'Text of NAME.' })"
COMMAND = "ctx.commands.register({ name: 'NAME-do', description: 'd', handler: () => 'done by NAME' })"


def words(*names):
    return GLib.Variant('as', names)


class Selection(ServiceCase):
    def add(self, name, more='', workspace=None, body="return 'from ' + exec.callId", **kinds):
        source = tool_source(body, name=f'{name}_tool', more=(SECTION + '\n' + COMMAND).replace('NAME', name) + '\n' + more,
                             inject=('tools', 'commands', 'prompt'))
        if workspace is None:
            return self.client.bring_up(self.bundle(name, source, **kinds))
        self.bundles = Path(workspace) / '.codewhale' / 'plugins'
        self.bundles.mkdir(parents=True, exist_ok=True)
        self.bundle(name, source, **kinds)
        rows = self.client.call('Plugins', 'List', '(a{sv})', options(workspace=str(workspace)))
        plugin = next(row[0] for row in rows if row[2] == name)
        self.client.trust(plugin)
        self.client.plugin('Enable', plugin)
        return plugin

    def open(self, client=None, **chosen):
        return (client or self.client).call('Sessions', 'Open', '(a{sv})', options(**chosen))

    def commands(self, session):
        return [row[0] for row in self.client.call('Commands', 'List', '(a{sv})', options(session=session))]

    def hidden(self, session):
        return self.client.call('Session', 'Hidden', path=session)

    def test_P09_C10_a_session_has_what_it_chose(self):
        self.approver()
        one, two = self.add('one'), self.add('two')
        only_two = self.open(plugins=words('two'))
        self.assertEqual(self.client.property('Session', 'Plugins', path=only_two), ['two'])
        self.assertEqual(self.client.tools(session=only_two), ['two_tool'])
        self.assertEqual(self.commands(only_two), ['two-do'])
        self.assertEqual(self.client.snapshot(session=only_two)['sections'], [f'{two} native/main.mjs note'])
        self.assertNotIn('Text of one.', self.client.snapshot(session=only_two)['text'])
        self.assertIn('does not use', self.assertFails('NoSuchTool', self.client.tool, 'one_tool', session=only_two).message)
        self.assertFails('NoSuchCommand', self.client.command, 'one-do', session=only_two)
        self.assertEqual(self.client.command('two-do', session=only_two)['text'], 'done by two')
        # Another session of the same client has the other one, by its id, and a third has both.
        only_one = self.open(plugins=words(one))
        self.assertEqual(self.client.tools(session=only_one), ['one_tool'])
        self.assertEqual(self.client.tools(session=self.open()), ['one_tool', 'two_tool'])
        self.assertEqual(self.client.tools(session=self.open(plugins=words())), [])

    def test_O10_C05_what_the_session_has_itself_wins(self):
        self.approver()
        self.add('one')
        session = self.open(script_tools=words('ONE_tool'), markdown_commands=words('one-DO'))
        self.assertEqual(self.client.tools(session=session), [])
        self.assertEqual(self.commands(session), [])
        self.assertIn('script tool', self.assertFails('NoSuchTool', self.client.tool, 'one_tool', session=session).message)
        self.assertIn('Markdown', self.assertFails('NoSuchCommand', self.client.command, 'one-do', session=session).message)
        self.assertEqual([row[:2] for row in self.hidden(session)], [('tool', 'one_tool'), ('command', 'one-do')])
        # Elsewhere nothing changed.
        self.assertIn('from', self.client.tool('one_tool')['content'][0]['text'])
        self.assertEqual(self.client.command('one-do')['text'], 'done by one')
        self.assertEqual(self.hidden(self.open()), [])

    def test_O09_two_entries_with_one_name(self):
        self.approver()
        source = tool_source('return FROM', name='same_tool')
        folder = self.bundle('pair', files={'a.mjs': source.replace('FROM', "'a'"), 'b.mjs': source.replace('FROM', "'b'")},
                             native={'paths': ['a.mjs', 'b.mjs']})
        self.client.bring_up(folder)
        both = self.open()
        self.assertEqual(self.client.tools(session=both), [])
        self.assertIn('two entries', self.assertFails('NoSuchTool', self.client.tool, 'same_tool', session=both).message)
        self.assertEqual(len(self.hidden(both)), 2)
        for entry in 'ab':
            session = self.open(plugins=words(f'pair#{entry}.mjs'))
            self.assertEqual(self.client.tools(session=session), ['same_tool'])
            self.assertEqual(self.client.tool('same_tool', session=session)['content'][0]['text'], entry)

    def test_O16_a_program_cannot_call_an_extension(self):
        self.approver()
        self.add('one')
        error = self.assertFails('RefusedByPolicy', self.client.tool, 'one_tool', origin='program')
        self.assertIn('one_tool', error.message)
        for origin in ('model', 'sub-agent'):
            self.assertIn('from', self.client.tool('one_tool', origin=origin)['content'][0]['text'])

    def test_O07_a_name_that_became_native_is_refused(self):
        session = self.open(native_tools=words('later_tool'), builtin_commands=words('later-do'))
        self.client.call('Session', 'Close', path=session)
        plugin = self.client.install(self.bundle('later', tool_source('return 1', name='Later_Tool')))['id']
        self.client.trust(plugin)
        self.assertIn('Later_Tool', self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin).message)
        source = "export const inject = ['commands']\nexport function apply(ctx) {" + COMMAND.replace('NAME', 'later') + '}'
        plugin = self.client.install(self.bundle('word', source))['id']
        self.client.trust(plugin)
        self.assertIn('built-in', self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin).message)

    def test_E07_a_listener_of_another_workspace_is_never_asked(self):
        self.approver()
        listener = "ctx.on('tools/pre-execute', () => ({ kind: 'annotate', text: 'heard by NAME' }))"
        here, there = self.daemon.base / 'here', self.daemon.base / 'there'
        self.add('local', listener.replace('NAME', 'local'), workspace=here)
        self.add('foreign', listener.replace('NAME', 'foreign'), workspace=there)
        session = self.open(workspace=str(here) + '/')
        self.assertEqual(self.client.property('Session', 'Workspace', path=session), str(here))
        self.assertEqual(self.client.tools(session=session), ['local_tool'])
        text = json.dumps(self.client.tool('local_tool', session=session))
        self.assertIn('heard by local', text)
        self.assertNotIn('foreign', text)
        labels = [row[1] for row in self.client.call('Hooks', 'List', '(a{sv})', options(session=session))]
        self.assertEqual(len(labels), 1)
        self.assertIn('/local', labels[0])
        error = self.assertFails('NoSuchTool', self.client.tool, 'foreign_tool', session=session)
        self.assertIn('another workspace', error.message)
        # Without a workspace there is neither.
        self.assertEqual(self.client.tools(), [])
        self.assertFails('NoSuchTool', self.client.tool, 'local_tool')

    def test_a_session_cannot_leave_out_a_guard(self):
        self.approver()
        self.add('worker')
        source = "export const apply = ctx => ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'the guard says no' }))"
        self.client.bring_up(self.bundle('guard', source))
        session = self.open(plugins=words('worker'))
        self.assertIn('the guard says no', self.assertFails('HookDenied', self.client.tool, 'worker_tool', session=session).message)

    def test_lists_are_checked(self):
        for bad in ({'plugins': 'one'}, {'plugins': words('')}, {'native_tools': words('a\nb')}, {'tools': words('a')}):
            self.assertFails('InvalidOption', self.open, **bad)
        self.assertFails('LimitExceeded', self.open, script_tools=words(*['x'] * 1025))
