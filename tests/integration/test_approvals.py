# SPDX-License-Identifier: MIT
"""Asking a person: cards, answers, grants, and approvers or callers that go away."""

import json

from codewhale import SAMPLES, Client, ServiceCase, iterate_until, options, tool_source

SESSION = '/org/codewhale/Extensions/session/'


class Cards(ServiceCase):
    def setUp(self):
        super().setUp()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source("return 'done'")))

    def waiting(self, **more):
        """A call whose card is open, and an approver that has seen it and not answered."""
        approver = self.approver(lambda card: None)
        call = self.client.start_tool('probe', {'a': 1}, **more)
        iterate_until(lambda: approver.cards, what='a card')
        return approver, call, approver.cards[0]

    def open_cards(self):
        return self.client.property('', 'ApprovalCount')

    def test_AP_14_no_approver(self):
        # No card, no waiting: the refusal is the answer, and no clock of ours ends it.
        opened = self.client.signals('Approvals', 'Opened')
        self.assertFails('NoApprover', self.client.tool, 'probe')
        self.assertEqual(opened, [])
        self.assertEqual(self.open_cards(), 0)

    def test_O01_every_call_asks(self):
        approver = self.approver()
        for _ in range(3):
            self.client.tool('probe')
        self.assertEqual(len(approver.cards), 3)

    def test_card_says_everything(self):
        approver, call, card = self.waiting()
        build = self.client.review(self.plugin)['content_hash']
        self.assertEqual([row[0] for row in self.client.call('Approvals', 'List')], [card['id']])
        self.assertEqual((card['kind'], card['plugin'], card['build'], card['tool']), ('tool-call', self.plugin, build, 'probe'))
        self.assertIn(self.client.unique_name, card['origin'][0])
        self.assertEqual(card['origin'][1:], [self.plugin, 'probe'])
        self.assertEqual((card['arguments'], card['arguments_size'], card['cut'], card['escaped']), ('{"a": 1}', 8, False, False))
        self.assertTrue(card['reasons'])
        self.assertEqual([grant['scope'] for grant in card['grants']], ['arguments', 'tool'])
        for grant in card['grants']:
            for part in (self.plugin, build[:12], 'in this session only'):
                self.assertIn(part, grant['words'])
        self.assertEqual(len(card['digest']), 64)
        for part in (self.client.unique_name, self.plugin, build[:12], 'probe', '{"a": 1}', card['reasons'][0], card['grants'][0]['words']):
            self.assertIn(part, card['text'])
        approver.answer(card, 'allow')
        self.assertIn('done', call.result())
        self.assertEqual(self.open_cards(), 0)

    def test_C8_a_cut_card_says_so_and_hands_out_the_whole(self):
        approver = self.approver(lambda card: None)
        text = json.dumps({'end': 'x' * 100000 + ' and the end'})
        call = self.client.start_tool('probe', text)
        iterate_until(lambda: approver.cards, what='a card')
        card = approver.cards[0]
        self.assertEqual((card['cut'], card['arguments_size'], card['grants']), (True, len(text), []))
        self.assertLess(len(card['arguments']), len(text))
        self.assertFails('InvalidArguments', approver.answer, card, 'allow', scope='tool')
        handed = approver.open_arguments(card)
        self.assertEqual(handed, text)
        approver.answer(card, 'allow')
        self.assertIn('done', call.result())

    def test_AP_07_dangerous_text_is_escaped_and_flagged(self):
        approver = self.approver(lambda card: 'deny')
        self.assertFails('Denied', self.client.tool, 'probe', '{"x": "\u202eevil\u200b", "y": "\\u0007"}')
        card = approver.cards[0]
        self.assertTrue(card['escaped'])
        for bad in ('\u202e', '\x07', '\u200b'):
            self.assertNotIn(bad, card['text'])

    def test_denied(self):
        self.approver(lambda card: 'deny')
        self.assertFails('Denied', self.client.tool, 'probe')

    def test_approver_vanishes(self):
        approver, call, _ = self.waiting()
        approver.vanish()
        self.assertFails('NoApprover', call.result)
        self.assertEqual(self.open_cards(), 0)

    def test_approver_vanishes_and_another_stays(self):
        approver, call, _ = self.waiting()
        second = self.approver(lambda card: None)
        approver.vanish()
        iterate_until(lambda: self.client.call('Approvals', 'List'), what='the card')
        number = self.client.call('Approvals', 'List')[0][0]
        import json
        card = json.loads(second.call('Approvals', 'Describe', '(t)', number))
        second.answer(card, 'allow')
        self.assertIn('done', call.result())

    def test_X06_caller_vanishes(self):
        approver = self.approver(lambda card: None)
        caller = Client(self.bus.address)
        caller.start_tool('probe')
        iterate_until(lambda: approver.cards, what='a card')
        caller.vanish()
        self.assertEqual(approver.closed.wait(), (approver.cards[0]['id'], 'withdrawn'))
        self.assertEqual(self.open_cards(), 0)

    def test_X06_plugin_disabled_while_the_card_is_open(self):
        approver, call, card = self.waiting()
        self.client.plugin('Disable', self.plugin)
        with self.assertRaises(Exception) as caught:
            call.result()
        self.assertIn(caught.exception.name.rsplit('.', 1)[1], ('Withdrawn', 'Cancelled', 'NotActive'))
        self.assertEqual(approver.closed.wait(), (card['id'], 'withdrawn'))

    def test_first_answer_wins(self):
        """All see the card, one decides, and the others are told."""
        second = self.approver(lambda card: None)
        approver, call, card = self.waiting()
        iterate_until(lambda: second.cards, what='the card of the second')
        self.assertEqual(second.cards, [card])
        approver.answer(card, 'deny')
        self.assertEqual(second.closed.wait(), (card['id'], 'denied'))
        self.assertFails('AlreadyDecided', second.answer, card, 'allow')
        self.assertFails('Denied', call.result)

    def test_answer_to_something_else(self):
        approver, call, card = self.waiting()
        self.assertFails('DigestMismatch', approver.answer, card, 'allow', '0' * 64)
        self.assertFails('InvalidArguments', approver.answer, card, 'perhaps')
        self.assertFails('NoSuchApproval', approver.answer, {**card, 'id': 4711}, 'allow')
        self.assertEqual(self.open_cards(), 1)
        approver.answer(card, 'allow')
        call.result()

    def test_only_approvers_answer(self):
        approver, call, card = self.waiting()
        stranger = self.connect()
        self.assertFails('NotApprover', stranger.call, 'Approvals', 'Answer', '(tssa{sv})', card['id'], 'allow', card['digest'], {})
        approver.answer(card, 'allow')
        call.result()

    def test_nobody_answers_their_own_card(self):
        approver = self.approver(lambda card: None)
        self.client.call('Approvals', 'Register', '(a{sv})', {})
        call = self.client.start_tool('probe')
        iterate_until(lambda: approver.cards, what='a card')
        card = approver.cards[0]
        self.assertFails('OwnApproval', self.client.call, 'Approvals', 'Answer', '(tssa{sv})', card['id'], 'allow', card['digest'], {})
        approver.answer(card, 'deny')
        self.assertFails('Denied', call.result)

    def test_requester_alone_is_no_approver(self):
        self.client.call('Approvals', 'Register', '(a{sv})', {})
        self.assertFails('NoApprover', self.client.tool, 'probe')

    def test_O17_session_grant_is_for_this_build_and_session(self):
        approver = self.approver(lambda card: ('allow', 'tool'))
        session = self.client.call('Sessions', 'Open', '(a{sv})', {})
        for _ in range(3):
            self.client.tool('probe', {'b': 2}, session=session)
        self.assertEqual(len(approver.cards), 1)
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)

        other = self.client.call('Sessions', 'Open', '(a{sv})', {})
        self.client.tool('probe', {'b': 2}, session=other)
        self.assertEqual(len(approver.cards), 2)

        # New bytes are another build: the grant does not reach them.
        self.client.plugin('Disable', self.plugin)
        self.client.plugin('Uninstall', self.plugin)
        self.client.bring_up(self._changed())
        self.client.tool('probe', {'b': 2}, session=session)
        self.assertEqual(len(approver.cards), 3)

    def _changed(self):
        folder = self.bundles / 'probe'
        (folder / 'native' / 'main.mjs').write_text(tool_source("return 'changed'"))
        return folder

    def test_grant_can_be_revoked(self):
        approver = self.approver(lambda card: ('allow', 'tool'))
        self.client.tool('probe')
        self.client.tool('probe')
        self.assertEqual(len(approver.cards), 1)
        self.client.call('Grants', 'Revoke', '(s)', self.client.call('Grants', 'List')[0][0])
        self.client.tool('probe')
        self.assertEqual(len(approver.cards), 2)

    def test_grants_die_with_the_session(self):
        approver = self.approver(lambda card: ('allow', 'tool'))
        caller = self.connect()
        caller.tool('probe')
        self.assertEqual(len(self.client.call('Grants', 'List')), 1)
        caller.close()
        iterate_until(lambda: not self.client.call('Grants', 'List'), what='the end of the grant')
        self.assertEqual(len(approver.cards), 1)


class Records(ServiceCase):
    """Every call leaves a record that explains itself."""

    def setUp(self):
        super().setUp()
        self.client.bring_up(SAMPLES / 'counter')

    def test_allowed_call(self):
        self.approver()
        call_id = self.client.tool('mod_counter', {'label': 'first'})['call_id']
        record = self.client.decision(call_id)
        self.assertTrue(record['story'])
        self.assertIn('mod_counter', str(record))

    def test_refused_calls(self):
        self.assertFails('NoApprover', self.client.tool, 'mod_counter')
        self.approver(lambda card: 'deny')
        self.assertFails('Denied', self.client.tool, 'mod_counter')
        self.assertFails('HookDenied', self.client.tool, 'mod_counter', {'label': 'blocked'})
        records = json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(kind='call')))
        self.assertEqual(sorted(record['outcome'] for record in records), ['denied', 'hook-denied', 'no-approver'])
        for record in records:
            self.assertTrue(self.client.decision(record['call'])['story'])

    def test_records_survive_a_restart(self):
        self.approver()
        call_id = self.client.tool('mod_counter')['call_id']
        self.daemon.stop()
        self.daemon.start()
        self.assertTrue(self.connect().decision(call_id)['story'])

    def test_unknown_record(self):
        self.assertFails('NoSuchDecision', self.client.decision, 'c-nothing')


assert options and SESSION
