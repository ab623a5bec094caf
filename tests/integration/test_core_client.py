# SPDX-License-Identifier: MIT
"""A client that is the core of its own session."""

import json
import os

from codewhale import ClientCore, CoreCase, iterate_until, tool_source

TOOLS = [{'name': 'look', 'description': 'Looks', 'requirement': 'auto',
          'input_schema': {'type': 'object', 'properties': {'path': {'type': 'string'}}, 'additionalProperties': False}},
         {'name': 'read', 'requirement': 'auto'}, {'name': 'bash', 'capabilities': ['process']}]


class Clients(CoreCase):
    def setUp(self):
        super().setUp()
        self.person = self.approver()
        self.bring_up_asking()
        self.answers = {'look': {'content': [{'type': 'text', 'text': 'seen'}]}}
        self.core = ClientCore(self.client, lambda name, arguments: self.answers.get(name))
        self.core.register(self.session, TOOLS)

    def test_is_called_back(self):
        outcome = self.one('look', {'path': 'x'})
        self.assertEqual(outcome['ok'], {'content': [{'type': 'text', 'text': 'seen'}], 'isError': False})
        [(call_id, name, arguments, facts)] = self.core.calls
        self.assertEqual((name, arguments), ('look', {'path': 'x'}))
        self.assertEqual((facts['plugin'], facts['workspace'], facts['name']), (self.plugin, str(self.workspace), 'look'))
        record = self.client.decision(call_id)
        self.assertEqual((record['kind'], record['parent'], record['tool']), ('core-call', facts['parent'], 'look'))
        self.assertIn(call_id, json.dumps(self.client.decision(facts['parent'])['related']))
        self.assertEqual(self.client.property('Session', 'Core', self.session), 'client')
        self.assertEqual(self.client.property('Session', 'CoreTools', self.session), ['look', 'read', 'bash'])

    def test_O07_its_names_are_reserved_for_good(self):
        """A plugin that comes later can't take one, in any case, also when the core and its client are gone."""
        other = self.connect()
        core = ClientCore(other, lambda name, arguments: {}, path='/org/example/other')
        core.register('/', [{'name': 'Fetch_Mail'}, {'name': 'web.run'}])
        other.call('Sessions', 'UnregisterCore', '(o)', '/')
        other.vanish()
        for name in ('fetch_mail', 'LOOK'):
            plugin = self.client.install(self.bundle(f'late-{name.lower().replace("_", "-")}', tool_source('return 1', name=name)))['id']
            self.client.trust(plugin)
            error = self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin)
            self.assertIn(f'"{name}" is reserved: a native tool has it', error.message)
        # Who had the name before keeps it, for those whose core has another one.
        core = ClientCore(self.client, lambda name, arguments: {}, path='/org/example/third')
        core.register(self.open_session(), [{'name': 'ask'}])
        self.assertEqual(self.text('look'), 'seen')

    def test_names_are_bounded(self):
        for number in range(3):
            self.core.register(self.session, [{'name': f'tool_{number}_{i}'} for i in range(256)])
        self.assertFails('LimitExceeded', self.core.register, self.session, [{'name': f'more_{i}'} for i in range(256)])
        self.assertIn('tool_2_0', self.client.property('Session', 'CoreTools', self.session))

    def test_the_card_names_the_whole_chain(self):
        self.answers['bash'] = {'content': [], 'is_error': False}
        self.one('bash', {'command': 'make'})
        card = self.person.cards[-1]
        self.assertEqual((card['kind'], card['tool']), ('core-call', 'bash'))
        self.assertEqual(card['origin'][1:], [self.plugin, 'ask', 'bash'])
        self.assertIn(self.client.unique_name, card['origin'][0])
        self.assertIn('Called by plugin', card['text'])

    def test_X15_shaping(self):
        self.answers['look'] = {
            'content': [{'type': 'text', 'text': 'a'}, {'type': 'json', 'value': {'n': 1, 'big': 9007199254740993}},
                        {'type': 'image', 'data': 'AAAA'}],
            'cut': {'original_bytes': 5000, 'kept_bytes': 10}, 'spill_path': '/tmp/secret-spill', 'more': True}
        outcome = self.one('look')['ok']
        texts = [block['text'] for block in outcome['content']]
        self.assertEqual(texts[:2], ['a', '{"n":1,"big":9007199254740993}'])
        self.assertIn('5000 bytes', texts[2])
        self.assertEqual(outcome['structured']['n'], 1)
        self.assertNotIn('spill', json.dumps(outcome))
        self.assertNotIn('AAAA', json.dumps(outcome))

    def test_X15_failure_is_a_result(self):
        self.answers['look'] = {'content': [{'type': 'text', 'text': 'no such thing'}], 'is_error': True}
        self.assertEqual(self.one('look')['ok'], {'content': [{'type': 'text', 'text': 'no such thing'}], 'isError': True})

        def broken(name, arguments):
            raise ValueError('the disk \x1b[31mis full')
        self.core.run = broken
        outcome = self.one('look')['ok']
        self.assertTrue(outcome['isError'])
        self.assertIn('is full', outcome['content'][0]['text'])
        self.assertNotIn('\x1b', outcome['content'][0]['text'])

    def test_answers_that_are_none(self):
        for answer in ('not json', '[]', '{"content": 5}', '{"content": [5]}', '{"content": [], "is_error": 7}'):
            with self.subTest(answer=answer):
                self.answers['look'] = answer
                self.assertEqual(self.one('look')['code'], 'failed')
        self.answers['look'] = {'refused': 'it was changed'}
        self.assertEqual(self.one('look')['code'], 'refused')

    def test_cancelling_reaches_it(self):
        self.answers['look'] = None
        outcome = self.one_with_abort()
        self.assertEqual(outcome['code'], 'cancelled')
        iterate_until(lambda: self.core.cancelled, what='Cancel')
        self.assertEqual(self.core.cancelled, [self.core.calls[-1][0]])

    def one_with_abort(self):
        call = self.begin({'name': 'look', 'input': {}, 'stoppable': True})
        iterate_until(lambda: self.core.waiting, what='the call of the core')
        self.lead('stop')
        return json.loads(call.result())['structured']['done'][0]

    def test_a_call_in_another_session_never_reaches_it(self):
        other = self.connect()
        session = self.open_session(other)
        done = json.loads(self.begin(('look', {}), client=other, session=session).result())['structured']['done']
        self.assertEqual(done[0]['code'], 'failed')
        self.assertEqual(self.core.calls, [])
        self.assertFails('NoSuchSession', self.core.register, self.session, TOOLS, other)
        self.assertFails('NoSuchSession', other.call, 'Sessions', 'UnregisterCore', '(o)', self.session)

    def test_taking_it_back(self):
        self.write('a.txt', 'text')
        self.client.call('Sessions', 'UnregisterCore', '(o)', self.session)
        self.assertEqual(self.client.property('Session', 'Core', self.session), 'built-in')
        self.assertEqual(self.one('look')['code'], 'failed')
        self.assertEqual(self.text('read', {'path': 'a.txt'}), 'text')

    def test_nobody_there(self):
        self.client.connection.unregister_object(self.core.number)
        outcome = self.one('look')
        self.assertEqual(outcome['code'], 'unavailable')

    def test_a_client_that_vanishes(self):
        client = self.connect()
        session = self.open_session(client)
        core = ClientCore(client, lambda name, arguments: None)
        core.register(session, TOOLS, client)
        self.begin(('look', {}), client=client, session=session)
        iterate_until(lambda: core.calls, what='the call')
        call_id = core.calls[0][0]
        client.vanish()
        iterate_until(lambda: self.outcome_of(call_id) == 'Cancelled', what='its record')
        # The extension's host lives on, and serves the next one.
        self.assertIn('ok', self.one('look'))

    def outcome_of(self, call_id):
        found = [row for row in self.records(tool='look') if row['call'] == call_id]
        return found[0].get('result') if found else None

    def test_what_can_be_registered(self):
        deep = '[' * 100 + ']' * 100
        for tools in ('', '{}', deep, '[5]', '[{}]', '[{"name":""}]', '[{"name":"a b"}]', '[{"name":"a"},{"name":"A"}]',
                      '[{"name":"a","requirement":"never"}]', '[{"name":"a","capabilities":["fly"]}]', '[{"name":"a","other":1}]',
                      '[{"name":"a","input_schema":{"type":"string"}}]', json.dumps([{'name': 'a', 'description': 'x' * 5000}])):
            with self.subTest(tools=tools[:60]):
                self.assertFails('InvalidArguments', self.core.register, self.session, tools)
        self.assertFails('LimitExceeded', self.core.register, self.session, [{'name': f't{number}'} for number in range(257)])
        self.assertFails('TooLarge', self.core.register, self.session, json.dumps([{'name': 'a', 'description': 'x' * 600000}]))
        self.assertEqual(self.client.property('Session', 'CoreTools', self.session), ['look', 'read', 'bash'])


class Operands(CoreCase):
    """A card is bound to the bytes of the files that the call names."""

    def setUp(self):
        super().setUp()
        self.person = self.approver(lambda card: 'allow' if card['tool'] == 'ask' else None)
        self.bring_up_asking()
        self.write('job.sh', 'echo first > ran\n')

    def card_of(self, *call):
        pending = self.begin(call)
        iterate_until(lambda: [card for card in self.person.cards if card['tool'] == call[0]], what='the card')
        return pending, [card for card in self.person.cards if card['tool'] == call[0]][-1]

    def end(self, pending, card):
        self.person.answer(card, 'allow')
        return json.loads(pending.result(60))['structured']['done'][0]

    def test_AP_01_a_script_that_is_rewritten_while_the_card_is_open(self):
        for command in ('sh ./job.sh', './job.sh', 'true && sh job.sh', f'sh {self.workspace}/job.sh'):
            with self.subTest(command=command):
                self.person.cards.clear()
                self.write('job.sh', 'echo first > ran\n')
                pending, card = self.card_of('shell', {'command': command})
                self.assertEqual([row['path'] for row in card['operands']], ['job.sh'])
                self.write('job.sh', 'echo evil > ran\n')
                outcome = self.end(pending, card)
                self.assertEqual(outcome['code'], 'refused')
                self.assertIn('job.sh', outcome['message'])
                self.assertFalse((self.workspace / 'ran').exists())

    def test_AP_01_an_unchanged_one_runs(self):
        pending, card = self.card_of('shell', {'command': 'sh ./job.sh'})
        self.assertIn('job.sh (as it is now', card['text'])
        self.assertIn('ok', self.end(pending, card))
        self.assertEqual((self.workspace / 'ran').read_text(), 'first\n')

    def test_AP_01_files_that_are_written(self):
        for call, path in ((('write_file', {'path': 'job.sh', 'content': 'mine'}), 'job.sh'),
                           (('write_file', {'path': 'new.txt', 'content': 'mine'}), 'new.txt'),
                           (('edit_file', {'path': 'job.sh', 'old_string': 'first', 'new_string': 'mine'}), 'job.sh')):
            with self.subTest(call=call):
                self.person.cards.clear()
                pending, card = self.card_of(*call)
                self.assertEqual([row['path'] for row in card['operands']], [path])
                self.write(path, 'theirs first\n')
                self.assertEqual(self.end(pending, card)['code'], 'refused')
                self.assertEqual((self.workspace / path).read_text(), 'theirs first\n')
                os.unlink(self.workspace / path)
                self.write('job.sh', 'echo first > ran\n')

    def test_one_card_at_a_time(self):
        calls = [('shell', {'command': f'echo {number}'}) for number in range(3)]
        pending = self.begin(*calls, together=True)
        for count in range(1, 4):
            iterate_until(lambda: len(self.person.cards) == 1 + count, what=f'card {count}')  # pylint: disable=cell-var-from-loop
            self.assertEqual(len(self.client.call('Approvals', 'List', '()')), 1)
            self.person.answer(self.person.cards[-1], 'allow')
        done = json.loads(pending.result(60))['structured']['done']
        self.assertEqual([outcome['ok']['content'][0]['text'] for outcome in done], ['0\n', '1\n', '2\n'])
