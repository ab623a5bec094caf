# SPDX-License-Identifier: MIT
"""Which names a plugin gets, over the bus: those of the core, of its clients, of other plugins and of what policy treats specially are
refused one by one, in words (contract 5.2, 4.2)."""

import json

from codewhale import ServiceCase, iterate_until, options, tool_source
from gi.repository import GLib

# What an active entry registers later is refused alone, so one host tries them all.
TRIES = '''
    for (const name of input.tools ?? [])
      ctx.tools.register({ name, description: 'd', parameters: { type: 'object' }, execute: () => 'taken' })
    for (const name of input.commands ?? []) ctx.commands.register({ name, description: 'd', handler: () => 'taken' })
    return 'tried\''''

FIXED = ('tool_search', 'retrieve_tool_result', 'EXECUTE_TOOLS', 'code_execution', 'request_user_input')
FAMILIES = ('File', 'bash', 'Git', 'tasks', 'Read', 'write', 'exec_shell', 'fetch_url')
REPORTED = ('Paint_Wall', 'mend-roof')
PROBED = ('web_fetch', 'exec_wait', 'run_tests', 'read_me', 'LIST_me', 'get_me', 'list_mcp_x', 'start_mcp_server', 'workflow', 'todo_write')
PREFIXES = ('mcp_x', 'EXT_x')
ADMITTED = ('load_workspace_dependencies', 'slow_wait', 'probe_read')


class Names(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.client.bring_up(self.bundle('other', tool_source("return 'other'", name='other_tool', more='''
            ctx.commands.register({ name: 'other-do', description: 'd', handler: () => 'other' })''', inject=('tools', 'commands'))))
        self.client.bring_up(self.bundle('probe', tool_source(TRIES, inject=('tools', 'commands'), more='''
            ctx.commands.register({ name: 'probe-do', description: 'd', handler: () => 'done' })''')))
        self.path = self.client.plugins()['probe'][1]

    def refusals(self, kind, *names):
        """Why each of the names was refused, by name."""
        self.client.tool('probe', {f'{kind}s': [*names, 'zz_last']})
        iterate_until(lambda: 'zz_last' in (self.client.tools() if kind == 'tool' else self.commands()), what='the last registration')
        iterate_until(lambda: len(self.said(kind)) >= len(names), what=f'a refusal of each of {names}')
        found = self.said(kind)
        self.assertEqual(set(found), set(names))
        return found

    def said(self, kind):
        found = {}
        for text in json.loads(self.client.call('Plugin', 'Describe', path=self.path))['host']['diagnostics']:
            name, refused, why = text.partition(' was refused: ')
            if refused:
                found[name.removeprefix(f'{kind}:')] = why
        return found

    def commands(self, **more):
        return [row[0] for row in self.client.call('Commands', 'List', '(a{sv})', options(**more))]

    def core_tools(self):
        """What the service's own core offers to a session with a workspace."""
        workspace = self.daemon.base / 'work'
        workspace.mkdir()
        session = self.client.call('Sessions', 'Open', '(a{sv})', options(workspace=str(workspace)))
        names = self.client.property('Session', 'CoreTools', path=session)
        self.assertGreaterEqual(len(names), 7)
        return names

    def report(self, **lists):
        """Another client says what its sessions have, and leaves."""
        client = self.connect()
        client.call('Sessions', 'Open', '(a{sv})', options(**{name: GLib.Variant('as', words) for name, words in lists.items()}))
        client.vanish()

    def test_O06_O07_A08_every_source_of_reserved_names(self):
        self.report(native_tools=REPORTED)
        native = [name for name in self.core_tools() if name not in PROBED]
        tried = dict.fromkeys([*FIXED, *native, *FAMILIES, *PROBED, *PREFIXES, *(name.swapcase() for name in REPORTED), 'OTHER_tool'])
        why = self.refusals('tool', *tried)
        for names, word in ((FIXED, 'belongs to the core'), (PREFIXES, 'may begin with'), (PROBED, 'special treatment'),
                            ((name.swapcase() for name in REPORTED), 'a native tool has it'), (['OTHER_tool'], 'already registered')):
            for name in names:
                self.assertIn(word, why[name], name)
        self.client.tool('probe', {'tools': ADMITTED})
        iterate_until(lambda: set(ADMITTED) <= set(self.client.tools()), what='names that are free')

    def test_C01_every_source_of_reserved_commands(self):
        self.report(builtin_commands=['paint'])
        why = self.refusals('command', 'help', 'quit', 'jihua', 'zidong', 'paint', 'Help', '1st', 'other-do')
        for name in ('help', 'quit', 'jihua', 'zidong', 'paint'):
            self.assertIn('built-in command', why[name], name)
        for name in ('Help', '1st'):
            self.assertIn('no name for a command', why[name], name)
        self.assertIn('already registered', why['other-do'])

    def test_C01_C05_what_a_session_has_itself_comes_first(self):
        """Its built-in and its Markdown commands, each said to be the reason, in that session alone."""
        for lists, word in (({'builtin_commands': ['probe-do']}, 'built-in'), ({'markdown_commands': ['Probe-Do']}, 'Markdown')):
            session = self.client.call('Sessions', 'Open', '(a{sv})', options(**{name: GLib.Variant('as', words) for name, words in lists.items()}))
            self.assertEqual(self.commands(session=session), ['other-do'])
            self.assertIn(word, self.assertFails('NoSuchCommand', self.client.command, 'probe-do', session=session).message)
            [hidden] = self.client.call('Session', 'Hidden', path=session)
            self.assertEqual(hidden[:2], ('command', 'probe-do'))
            self.assertIn(word, hidden[3])
            self.assertEqual(self.client.command('other-do', session=session)['text'], 'other')
            self.assertEqual(self.client.command('probe-do')['text'], 'done')


del ServiceCase
