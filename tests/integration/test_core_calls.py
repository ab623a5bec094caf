# SPDX-License-Identifier: MIT
"""Core calls from the extension's side: tickets, limits, the refused list, cancellation, the clock, receipts."""

import json
import os
import time

from codewhale import ClientCore, CoreCase, iterate_until
from codewhale.bus import GLib
from codewhale.core import ASKING
from codewhale.terminal import run

SLOW = {'command': 'sleep 1'}


class Refusals(CoreCase):
    def test_X03_refused_list(self):
        approver = self.approver(lambda card: 'allow' if card['tool'] == 'ask' else 'deny')
        self.bring_up_asking()
        names = ['execute_tools', 'code_execution', 'js_execution', 'multi_tool_use.parallel', 'agent', 'Workflow', 'RLM', 'rlm_eval',
                 'request_user_input', 'mcp_anything', 'MCP_X', 'list_mcp_resources', 'List_MCP_Resource_Templates', 'read_mcp_resource',
                 'Server_Authenticate', 'computer_use', 'computer_use_consent', 'Computer_Use_Script', 'tool_search',
                 'tool_search_tool_regex', 'TOOL_SEARCH_TOOL_BM25', 'retrieve_tool_result', 'Remember', 'request_plugin_install', 'create_goal',
                 'update_goal', 'automation', 'automation_create', 'send_later', 'start_mcp_server', 'Start_Registry_MCP_Server', 'ext_x', 'ask', 'ASK']
        calls = [(name, {}) for name in names] + [
            ('bash', {'command': 'ls', 'interactive': True}), ('exec_shell', {'command': 'ls', 'interactive': 1}),
            ('read', {'path': 'a', 'sandbox_permissions': 'all'}), ('BASH', {'command': 'ls', 'sandbox_permissions': None}),
            ('automation', {'action': 'create'})]
        result = self.ask(*calls)
        for call, outcome in zip(calls, result['structured']['done']):
            with self.subTest(call=call):
                self.assertEqual(outcome.get('code'), 'refused', outcome)
        # Nobody was asked about any of them.
        self.assertEqual({card['tool'] for card in approver.cards}, {'ask'})
        receipts = self.receipts(result)
        self.assertEqual(receipts['total'], len(calls))
        self.assertEqual({(row['decision'], row['status']) for row in receipts['calls']}, {('refused', 'refused')})
        # Each has a record of its own beside that of the call that made it.
        rows = self.records(kind='core-call')
        self.assertEqual(sorted(row['tool'] for row in rows), sorted(name for name, _ in calls))
        for row in rows:
            self.assertEqual((row['outcome'], row['plugin'], row['trace'][-1]['source']), ('refused-by-policy', self.plugin, 'refused-list'))
            self.assertEqual(len(row['arguments_digest']), 64)
        self.assertEqual({row['parent'] for row in rows}, {row['call'] for row in self.records(kind='call')})

    def test_X03_C12_a_refused_call_can_be_asked_about(self):
        self.approver()
        self.bring_up_asking()
        self.one('Workflow', {'secret': 'sk-1'})
        [row] = self.records(kind='core-call')
        self.assertNotIn('sk-1', json.dumps(row))
        story = run(self.bus.address, 'why', row['call']).stdout
        self.assertIn('Workflow', story)
        self.assertIn('the list that no extension may call', story)
        [outer] = self.records(kind='call')
        self.assertIn('Workflow', run(self.bus.address, 'why', outer['call']).stdout)

    def test_AP_22_another_plugins_tool_by_any_spelling(self):
        self.approver()
        self.bring_up_asking()
        self.bring_up_asking('other', 'Other_Tool', body='return "ran"')
        for name in ('Other_Tool', 'other_tool', 'OTHER_TOOL'):
            self.assertEqual(self.one(name)['code'], 'refused')

    def test_X16_a_listener_can_make_it_a_refused_call(self):
        """By tools that would take it: what is refused is no matter of their schemas."""
        person = self.approver()
        self.bring_up_asking(more='''ctx.on('tools/pre-execute', (call, next) =>
            call.name === 'look' ? { kind: 'revise', input: { sandbox_permissions: 'x' } }
            : call.name === 'bash' ? { kind: 'revise', input: { command: 'ls', interactive: true } } : next())''')
        core = ClientCore(self.client, lambda name, arguments: {'content': []})
        core.register(self.session, [{'name': 'look', 'requirement': 'auto'}, {'name': 'bash'}, {'name': 'plain', 'requirement': 'auto'}])
        codes = [outcome.get('code') for outcome in self.outcomes(('look', {}), ('bash', {'command': 'ls'}), ('plain', {}))]
        self.assertEqual(codes, ['refused', 'refused', None])
        self.assertEqual([name for _, name, _, _ in core.calls], ['plain'])
        self.assertEqual([card['tool'] for card in person.cards], ['ask', 'plain'])
        for name in ('look', 'bash'):
            [record] = self.records(kind='core-call', tool=name)
            self.assertEqual((record['outcome'], record['trace'][-1]['source']), ('refused-by-policy', 'refused-list'))

    def test_X16_what_it_makes_of_the_input_may_not_fit(self):
        """No call to be refused for what it is any more; whose doing that was is in the record."""
        self.approver()
        self.bring_up_asking(more='''ctx.on('tools/pre-execute', (call, next) =>
            call.name === 'read' ? { kind: 'revise', input: { path: 'a.txt', sandbox_permissions: 'x' } } : next())''')
        self.assertEqual(self.one('read', {'path': 'a.txt'})['code'], 'refused')
        [record] = self.records(kind='core-call', tool='read')
        step = record['trace'][-1]
        self.assertEqual((record['outcome'], step['layer'], step['verdict']), ('hook-failed', 'hooks', 'deny'))
        self.assertTrue(step['source'].startswith('hook:'), step)
        self.assertIn('sandbox_permissions', step['why'])

    def test_HK_14_a_read_that_becomes_a_write_is_asked_about(self):
        approver = self.approver(lambda card: 'allow' if card['tool'] == 'ask' else 'deny')
        self.bring_up_asking(more='''ctx.on('tools/pre-execute', (call, next) => call.name === 'File'
            ? { kind: 'revise', input: { action: 'write', path: 'a.txt', content: 'changed' } } : next())''')
        self.write('a.txt', 'text')
        self.assertEqual(self.one('File', {'action': 'read', 'path': 'a.txt'})['code'], 'denied')
        self.assertIn('changed', approver.cards[-1]['arguments'])
        self.assertEqual((self.workspace / 'a.txt').read_text(), 'text')

    def test_E10_HK_12_listeners_are_asked_about_core_calls(self):
        self.approver()
        self.bring_up_asking(more='''ctx.on('tools/pre-execute', (call, next) => {
            if (call.name === 'read') return { kind: 'deny', reason: 'not this file' }
            return call.name === 'list_dir' ? { kind: 'revise', input: { path: 'src' } } : next() })''')
        self.write('src/only.txt', '')
        denied, listed = self.outcomes(('read', {'path': 'a.txt'}), ('list_dir', {}))
        self.assertEqual(denied['code'], 'refused')
        self.assertIn('not this file', denied['message'])
        self.assertEqual(listed['ok']['content'][0]['text'], 'only.txt\n')


class Handles(CoreCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def test_X04_who_gets_no_handle(self):
        self.bring_up_asking(inject=('tools', 'commands'), more='''
            ctx.commands.register({ name: 'peek', description: 'Whether it has a core', handler: input => 'core' in input ? 'yes' : 'no' })''')
        self.assertTrue(self.ask()['structured']['core'])
        self.assertFalse(self.ask(origin='sub-agent')['structured']['core'])
        self.assertFails('RefusedByPolicy', self.ask, origin='program')
        self.assertEqual(self.client.command('peek', session=self.session)['text'], 'no')
        self.assertFails('InvalidOption', self.ask, origin='somebody')
        bare = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.assertFalse(self.ask(session=bare)['structured']['core'])

    def test_X04_a_kept_handle_is_dead(self):
        self.bring_up_asking(body='''
            if (input.keep) { globalThis.kept = exec.core; return 'kept' }
            try { await globalThis.kept.call('list_dir'); return 'alive' } catch (error) { return error.code }''')
        begin = lambda keep: self.client.tool('ask', {'keep': keep}, session=self.session)['content'][0]['text']
        self.assertEqual((begin(True), begin(False)), ('kept', 'unavailable'))

    def test_X05_waiting_for_a_person_costs_no_time(self):
        approver = self.approver(lambda card: None)
        self.bring_up_asking()
        # The first approver allows the outer call at once, and would allow the command too.
        for other in [each for each in self.people if each is not approver]:
            other.decide = lambda card: 'allow' if card['tool'] == 'ask' else None
        call = self.begin(('shell', {'command': 'echo hi'}), deadline_ms=1500)
        iterate_until(lambda: any(card['tool'] == 'shell' for card in approver.cards), what='the card')
        time.sleep(2.5)
        approver.answer([card for card in approver.cards if card['tool'] == 'shell'][0], 'allow')
        result = call.result(40)
        self.assertIn('hi', result)
        self.assertIn('"decision":"approved"', result)

    def test_X05_its_own_time_still_runs(self):
        self.bring_up_asking()
        self.write('a.txt', 'x')
        call = self.begin(('read', {'path': 'a.txt'}), deadline_ms=1500, spin=30000)
        self.assertFails('DeadlineExceeded', call.result, 30)

    def approver(self, decide=None):
        approver = super().approver(decide)
        self.people = [*getattr(self, 'people', []), approver]
        return approver


class Limits(CoreCase):
    def setUp(self):
        super().setUp()
        self.approver()
        self.bring_up_asking()

    def test_X07_fifty_calls(self):
        self.write('a.txt', 'x')
        result = self.ask(*[('read', {'path': 'a.txt'})] * 52, together=True, seconds=120)
        codes = [outcome.get('code', 'ok') for outcome in result['structured']['done']]
        self.assertEqual((codes.count('ok'), codes.count('refused')), (50, 2))
        self.assertTrue(all('limit' in outcome['message'] for outcome in result['structured']['done'] if 'code' in outcome))
        receipts = self.receipts(result)
        self.assertEqual((receipts['total'], len(receipts['calls'])), (52, 50))
        # One record tells of what is over the limit, however often it is tried.
        rows = self.records(kind='core-call')
        self.assertEqual([row['outcome'] for row in rows].count('allowed'), 50)
        [over] = [row for row in rows if row['outcome'] == 'refused-by-policy']
        self.assertEqual(over['trace'][-1]['source'], 'limit')
        # The limit is no misbehaviour: the host is still the same one.
        self.assertEqual(self.text('read', {'path': 'a.txt'}), 'x')

    def test_X09_more_than_the_limit_is_no_forgery(self):
        """Eight bad tickets end a host; ten calls too many do not."""
        core = ClientCore(self.client, lambda name, arguments: {'content': []})
        core.register(self.session, [{'name': 'read', 'requirement': 'auto'}])
        hosts = self.units.all_processes()
        result = self.ask(*[('read', {})] * 60)
        self.assertEqual(len(core.calls), 50)
        self.assertEqual([outcome.get('code') for outcome in result['structured']['done']], [None] * 50 + ['refused'] * 10)
        self.assertEqual((self.receipts(result)['total'], self.records(kind='attempt')), (60, []))
        self.assertIn('ok', self.one('read'))
        self.assertEqual(self.units.all_processes(), hosts)

    def test_X07_four_at_once_and_the_fifth_waits(self):
        """The core keeps its answers back. What is logged after all eight were asked for tells that the service has them all."""
        self.bring_up_asking('eight', 'eight', body=ASKING.replace(
            'if (input.together)', "setTimeout(() => ctx.logger.warn('all are asked for'), 0)\nif (input.together)"))
        core = ClientCore(self.client, lambda name, arguments: None)
        core.register(self.session, [{'name': 'read', 'requirement': 'auto'}])
        call = self.begin(*[('read', {'n': number}) for number in range(8)], together=True, tool='eight')
        iterate_until(lambda: 'all are asked for' in self.daemon.log(), what='the last request')
        for answered in range(8):
            running = min(4, 8 - answered)
            iterate_until(lambda: len(core.calls) >= answered + running, what=f'core call {answered + running}')  # pylint: disable=cell-var-from-loop
            # Whatever the service had sent before this answer has come.
            self.client.property('', 'ApprovalCount')
            self.assertEqual((len(core.calls), len(core.waiting)), (answered + running, running))
            core.waiting.pop(0).return_value(GLib.Variant('(s)', (json.dumps({'content': []}),)))
        self.assertEqual([outcome.get('code') for outcome in json.loads(call.result())['structured']['done']], [None] * 8)
        self.assertEqual([arguments['n'] for _, _, arguments, _ in core.calls], list(range(8)))


class Ends(CoreCase):
    def setUp(self):
        super().setUp()
        self.asked = self.approver(lambda card: 'allow' if card['tool'] == 'ask' else None)
        self.bring_up_asking()

    def waiting(self, **more):
        call = self.begin(('shell', {'command': 'echo hi'}), **more)
        iterate_until(lambda: [card for card in self.asked.cards if card['tool'] == 'shell'], what='the card')
        described = json.loads(self.client.call('', 'Describe'))
        self.assertEqual([described[name] for name in ('calls', 'approvals', 'tickets')], [2, 1, 1])
        return call, [card for card in self.asked.cards if card['tool'] == 'shell'][0]

    def assertWithdrawn(self, card):
        iterate_until(lambda: [row for row in self.asked.closed if row[0] == card['id']], what='the end of the card')
        self.assertIn('withdrawn', str([row for row in self.asked.closed if row[0] == card['id']][0]))
        self.assertFails('Withdrawn', self.asked.answer, card, 'allow')
        self.assertNothingIsLeft()

    def assertNothingIsLeft(self):
        """Of no call, no card and no ticket."""
        numbers = lambda: json.loads(self.client.call('', 'Describe'))
        iterate_until(lambda: not any(numbers()[name] for name in ('calls', 'approvals', 'tickets')), what='the end of all of it')

    def test_X06_dropped_call(self):
        other = self.connect()
        session = self.open_session(other)
        _, card = self.waiting(client=other, session=session)
        other.vanish()
        self.assertWithdrawn(card)

    def test_X06_disabled_plugin(self):
        call, card = self.waiting()
        self.client.plugin('Disable', self.plugin)
        self.assertFails('Cancelled', call.result)
        self.assertWithdrawn(card)
        found = [row['outcome'] for row in self.records(tool='shell') if row['kind'] == 'core-call']
        self.assertEqual(found, ['cancelled'])

    def test_X06_bytes_that_change_between_two_core_calls(self):
        """The next core call finds that out. What was running may end: it is told so at once, whatever it waits for."""
        source = self.daemon.home / 'plugins' / 'asking' / 'native' / 'main.mjs'
        good = source.read_bytes()

        def change(_name, _arguments):
            source.write_bytes(good + b'// changed')
            return {'content': []}

        core = ClientCore(self.client, change, path='/org/example/changing')
        core.register(self.session, [{'name': 'read', 'requirement': 'auto'}])
        for number, together in ((2, False), (8, True)):
            with self.subTest(number=number):
                core.calls.clear()
                done = json.loads(self.begin(*[('read', {})] * number, together=together).result())['structured']['done']
                codes = [outcome.get('code') for outcome in done]
                self.assertEqual(len(codes), number)
                self.assertIn('unavailable', codes)
                if not together:
                    self.assertEqual((codes, len(core.calls)), ([None, 'unavailable'], 1))
                self.assertFails('NoSuchTool', self.begin(('read', {})).result)
                source.write_bytes(good)
                self.client.wait_for_tools('ask')

    def test_X06_bytes_that_change_while_a_core_call_waits_for_a_person(self):
        call, card = self.waiting()
        source = self.daemon.home / 'plugins' / 'asking' / 'native' / 'main.mjs'
        source.write_bytes(source.read_bytes() + b'// changed')
        [outcome] = json.loads(call.result())['structured']['done']
        self.assertEqual(outcome['code'], 'unavailable')
        self.assertWithdrawn(card)

    def test_X06_killed_host(self):
        call, card = self.waiting()
        for pid in self.units.all_processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        self.assertFails('HostUnavailable', call.result)
        self.assertWithdrawn(card)

    def test_closed_session(self):
        call, card = self.waiting()
        self.client.call('Session', 'Close', path=self.session)
        self.assertFails('Cancelled', call.result)
        self.assertWithdrawn(card)

    def test_the_extensions_own_signal(self):
        call = self.begin({'name': 'shell', 'input': {'command': 'echo hi'}, 'stoppable': True})
        iterate_until(lambda: [card for card in self.asked.cards if card['tool'] == 'shell'], what='the card')
        self.lead('stop')
        self.assertIn('"code":"cancelled"', call.result())
        self.assertWithdrawn([card for card in self.asked.cards if card['tool'] == 'shell'][0])

    def test_a_running_command_is_killed(self):
        self.asked.decide = lambda card: 'allow'
        other = self.connect()
        session = self.open_session(other)
        self.begin(('shell', {'command': 'sleep 60'}), client=other, session=session)
        iterate_until(lambda: [name for name in self.units.names() if 'core' in name], what='the unit')
        other.vanish()
        iterate_until(lambda: not [name for name in self.units.names() if 'core' in name], what='the end of the unit')
        self.assertNothingIsLeft()
