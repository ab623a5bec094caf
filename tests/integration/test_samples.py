# SPDX-License-Identifier: MIT
"""The two samples do what contract 2.10.1 says, row by row."""

import json

from codewhale import SAMPLES, ServiceCase


class Counter(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(SAMPLES / 'counter')
        self.approver()

    def test_registers_four_things(self):
        self.assertEqual(self.client.tools(), ['mod_counter'])
        self.assertEqual([row[0] for row in self.client.call('Commands', 'List', '(a{sv})', {})], ['mod-count'])
        self.assertEqual(self.client.snapshot()['sections'], [f'{self.plugin} native/counter.mjs counter-example'])
        self.assertEqual([row[0] for row in self.client.call('Hooks', 'List', '(a{sv})', {})], ['tools/pre-execute'])

    def test_pages_name_the_hash_that_it_has(self):
        content = self.client.review('counter')['token'].split('.')[0]
        for page in ('README.md', 'docs/POLICY.md'):
            with self.subTest(page=page):
                self.assertIn(content, (SAMPLES.parents[1] / page).read_text())

    def test_call_with_a_label(self):
        result = self.client.tool('mod_counter', {'label': 'first'})
        answer = result['structured']
        self.assertEqual((answer['count'], answer['label'], answer['callId']), (1, 'first', result['call_id']))
        self.assertEqual((answer['agentId'], answer['originTurnId']), (None, None))
        labelled = self.client.tool('mod_counter', {}, agent_id='agent', origin_turn_id='turn')['structured']
        self.assertEqual((labelled['count'], labelled['label'], labelled['agentId'], labelled['originTurnId']),
                         (2, None, 'agent', 'turn'))

    def test_increment_false_changes_nothing(self):
        self.client.tool('mod_counter')
        self.assertEqual(self.client.tool('mod_counter', {'increment': False})['structured']['count'], 1)
        self.assertEqual(self.client.tool('mod_counter', {'increment': False})['structured']['count'], 1)

    def test_schema(self):
        for bad in ({'label': 'x' * 65}, {'increment': 'no'}, {'other': 1}):
            self.assertFails('InvalidArguments', self.client.tool, 'mod_counter', bad)

    def test_E01_blocked_label_is_denied_with_a_reason(self):
        error = self.assertFails('HookDenied', self.client.tool, 'mod_counter', {'label': 'blocked'})
        self.assertIn('not counted', error.message)
        self.assertEqual(self.client.tool('mod_counter', {'increment': False})['structured']['count'], 0)

    def test_E01_other_calls_are_annotated(self):
        self.assertIn('Seen by the counter sample.', json.dumps(self.client.tool('mod_counter')['context']))

    def test_command_prints_without_counting(self):
        self.client.tool('mod_counter')
        for _ in range(2):
            result = self.client.command('mod-count')
            self.assertEqual((result['kind'], result['text']), ('success', 'The counter is at 1.'))

    def test_disable_removes_all_four(self):
        self.assertIn('counts', self.client.snapshot()['text'])
        self.client.plugin('Disable', self.plugin)
        self.assertEqual(self.client.tools(), [])
        self.assertEqual(self.client.call('Commands', 'List', '(a{sv})', {}), [])
        self.assertEqual(self.client.call('Hooks', 'List', '(a{sv})', {}), [])
        self.assertTrue(self.client.snapshot()['withdrawn'])
        self.assertFails('NoSuchTool', self.client.tool, 'mod_counter')
        self.assertFails('NoSuchCommand', self.client.command, 'mod-count')
        self.assertEqual(self.units.wait_until_gone(), [])

    def test_G02_count_survives(self):
        self.client.tool('mod_counter')
        self.client.plugin('Disable', self.plugin)
        self.client.plugin('Enable', self.plugin)
        self.assertEqual(self.client.tool('mod_counter')['structured']['count'], 2)
        self.daemon.stop()
        self.daemon.start()
        self.client = self.connect()
        self.approver()
        self.client.wait_for_tools('mod_counter')
        self.assertEqual(self.client.tool('mod_counter')['structured']['count'], 3)
        self.client.plugin('Disable', self.plugin)
        self.client.plugin('Uninstall', self.plugin)
        self.client.bring_up(SAMPLES / 'counter')
        self.assertEqual(self.client.tool('mod_counter')['structured']['count'], 4)

    def test_storage_is_visible_to_its_owner(self):
        self.client.tool('mod_counter')
        self.assertEqual([row[0] for row in self.client.call('Storage', 'List', '(s)', self.plugin)], ['count'])
        self.assertEqual(json.loads(self.client.call('Storage', 'Get', '(ss)', self.plugin, 'count')), 1)
        self.assertTrue(self.client.call('Storage', 'Delete', '(ss)', self.plugin, 'count'))
        self.assertFails('NoSuchKey', self.client.call, 'Storage', 'Get', '(ss)', self.plugin, 'count')
        self.assertEqual(self.client.tool('mod_counter')['structured']['count'], 1)


class Greeting(ServiceCase):
    def setUp(self):
        super().setUp()
        self.approver()

    def test_default_greeting(self):
        self.client.bring_up(SAMPLES / 'greeting')
        result = self.client.tool('hello_greet')
        self.assertIn('Hello, world!', result['content'][0]['text'])
        self.assertIn(result['call_id'], result['content'][0]['text'])
        self.assertIn('Hello, Ada!', self.client.tool('hello_greet', {'name': 'Ada'})['content'][0]['text'])

    def test_configured_greeting(self):
        self.daemon.write_config(self.config + '\n[plugins."greeting".config]\ngreeting = "Moin"\n')
        self.client.call('', 'Reload')
        self.client.bring_up(SAMPLES / 'greeting')
        self.assertIn('Moin, world!', self.client.tool('hello_greet')['content'][0]['text'])

    def test_wrong_config_fails_the_activation_and_names_the_field(self):
        self.daemon.write_config(self.config + '\n[plugins."greeting".config]\ngreeting = 7\n')
        self.client.call('', 'Reload')
        plugin = self.client.install(SAMPLES / 'greeting')['id']
        self.client.trust(plugin)
        with self.assertRaises(Exception) as caught:
            self.client.plugin('Enable', plugin)
        self.assertIn('greeting', caught.exception.message)
        self.assertEqual(self.client.tools(), [])

    def test_O03_refused_before_the_host(self):
        self.client.bring_up(SAMPLES / 'greeting')
        self.assertFails('InvalidArguments', self.client.tool, 'hello_greet', {'who': 'x'})
        self.assertFails('InvalidArguments', self.client.tool, 'hello_greet', {'name': 1})

    def test_command_with_hint(self):
        self.client.bring_up(SAMPLES / 'greeting')
        row = self.client.call('Commands', 'List', '(a{sv})', {})[0]
        self.assertEqual(row[0], 'hello-greet')
        self.assertTrue(row[3])
        self.assertIn('Ada', self.client.command('hello-greet', 'Ada')['text'])
