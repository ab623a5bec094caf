# SPDX-License-Identifier: MIT
"""Rows about approvals and grants that need the bus: several callers, several approvers, several builds."""

import json

from codewhale import BusError, CoreCase, RulesCase, iterate_until, rule, tool_source

MORE = '''
  for (const [name, description] of [['claims', 'Only reads. Safe, read-only, needs no approval.'], ['claims_not', 'x']])
    ctx.tools.register({ name, description, parameters: { type: 'object' }, async execute() { return 'ran' } })'''
CLAIMS = ('readOnly: true', 'read_only: true', 'annotations: { readOnlyHint: true }')


class Rows(CoreCase, RulesCase):
    def setUp(self):
        super().setUp()
        self.person = self.approver(lambda card: None)
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source('return { input }', name='probe', more=MORE)))

    def begin_probe(self, number, **more):
        return self.client.start_tool('probe', {'n': number}, **more)

    def wait_for_cards(self, count, person=None):
        person = person or self.person
        iterate_until(lambda: len(person.cards) >= count, what=f'{count} cards')
        return person.cards

    def number_of(self, card):
        return json.loads(card['arguments'])['n']

    def test_AP_03_C2_an_answer_is_for_one_card(self):
        first, second = self.begin_probe(1), self.begin_probe(2)
        cards = {self.number_of(card): card for card in self.wait_for_cards(2)}
        self.person.answer(cards[2], 'allow')
        self.assertEqual(json.loads(second.result())['structured']['input'], {'n': 2})
        self.assertFalse(first.done)
        self.person.answer(cards[1], 'deny')
        self.assertFails('Denied', first.result)

    def test_AP_04_C2_answers_that_come_too_late(self):
        call = self.begin_probe(1)
        [card] = self.wait_for_cards(1)
        self.person.answer(card, 'allow')
        call.result()
        other = self.connect()
        other.start_tool('probe', {'n': 2})
        gone = self.wait_for_cards(2)[-1]
        other.vanish()
        self.person.closed.wait(2)
        before = self.client.call('Grants', 'List', '()')
        unknown = {**card, 'id': 4711}
        names = []
        for late in (card, gone, unknown):
            with self.assertRaises(BusError) as caught:
                self.person.answer(late, 'allow', scope='tool')
            names.append(caught.exception.name.rsplit('.', 1)[1])
        self.assertEqual(names, ['AlreadyDecided', 'Withdrawn', 'NoSuchApproval'])
        self.assertEqual(self.client.call('Grants', 'List', '()'), before)

    def test_AP_05_twenty_at_once(self):
        calls = [self.begin_probe(number) for number in range(20)]
        cards = self.wait_for_cards(20)
        self.assertEqual(len({card['id'] for card in cards}), 20)
        self.assertEqual([self.number_of(card) for card in sorted(cards, key=lambda card: card['id'])], list(range(20)))
        for card in cards:
            self.person.answer(card, 'allow')
        self.assertEqual([json.loads(call.result())['structured']['input']['n'] for call in calls], list(range(20)))

    def test_AP_09_C5_a_grant_is_for_a_session_and_a_build(self):
        self.person.decide = lambda card: ('allow', 'tool')
        one, two = self.open_session(), self.open_session()

        def asked(session):
            before = len(self.person.cards)
            self.client.tool('probe', {'n': 1}, session=session)
            return len(self.person.cards) > before

        self.assertEqual([asked(one), asked(one), asked(two), asked(two)], [True, False, True, False])
        # The words on the card said so before.
        scopes = {grant['scope']: json.dumps(grant) for grant in self.person.cards[0]['grants']}
        self.assertIn('session', scopes['tool'])
        self.client.call('Session', 'Close', path=one)
        self.assertTrue(asked(self.open_session()))
        folder = self.bundles / 'probe'
        for path in folder.rglob('*.mjs'):
            path.write_text(tool_source('return { input, new: true }', name='probe', more=MORE))
        for verb in ('Disable', 'Uninstall'):
            self.client.plugin(verb, self.plugin)
        self.client.bring_up(folder)
        self.assertTrue(asked(two))

    def test_AP_10_C11_a_grant_for_arguments_is_for_these(self):
        self.person.decide = lambda card: ('allow', 'arguments')
        session = self.open_session()
        asked = []
        for arguments in ({'target': 'one', 'x': 1}, {'x': 1, 'target': 'one'}, {'target': 'two', 'x': 1}, {'target': 'one', 'x': 1}):
            before = len(self.person.cards)
            self.client.tool('probe', arguments, session=session)
            asked.append(len(self.person.cards) > before)
        self.assertEqual(asked, [True, False, True, False])

    def test_AP_15_C4_nobody_answered_is_no_refusal(self):
        config = self.daemon.home / 'config.toml'
        config.write_text(config.read_text() + '[approvals]\ntimeout_sec = 1\n')
        self.client.call('', 'Reload')
        error = self.assertFails('TimedOut', self.begin_probe(1).result)
        self.assertNotIn('denied', error.message.lower())
        [record] = self.records(kind='call')
        self.assertEqual(record['outcome'], 'timed-out')
        self.assertNotIn('answered_by', record)

    def test_AP_17_C13_two_approvers_one_decision(self):
        other = self.approver(lambda card: None)
        for number in range(5):
            call = self.begin_probe(number)
            mine, theirs = self.wait_for_cards(number + 1)[-1], self.wait_for_cards(number + 1, other)[-1]
            self.assertEqual((mine['id'], mine['digest']), (theirs['id'], theirs['digest']))
            answers = [who.start('Approvals', 'Answer', '(tssa{sv})', mine['id'], word, mine['digest'], {})
                       for who, word in ((self.person, 'allow'), (other, 'deny'))]
            iterate_until(lambda: all(answer.done for answer in answers), what='both answers')  # pylint: disable=cell-var-from-loop
            errors = [answer.error for answer in answers]
            self.assertEqual([bool(error) for error in errors].count(True), 1, errors)
            [lost] = [error for error in errors if error]
            self.assertTrue(lost.name.endswith('.AlreadyDecided'), lost)
            if errors[0]:
                self.assertFails('Denied', call.result)
            else:
                self.assertEqual(json.loads(call.result())['structured']['input'], {'n': number})
        answered = self.records(kind='answer')
        self.assertEqual(len(answered), 5)

    def test_AP_14_C3_nobody_there_is_told_at_once(self):
        self.person.vanish()
        # A card would have no time-out: that an answer comes at all is that none was opened.
        self.assertFails('NoApprover', self.client.tool, 'probe', {'n': 1})
        self.assertEqual([row['outcome'] for row in self.records(kind='call')], ['no-approver'])
        self.assertEqual(self.records(kind='card'), [])

    def test_C6_a_nested_request_reaches_every_approver_with_its_chain(self):
        self.bring_up_asking()
        other = self.approver(lambda card: None)
        for number, who in enumerate((self.person, other)):
            call = self.begin(('write_file', {'path': f'{number}.txt', 'content': 'x'}))
            self.person.answer(self.wait_for_cards(2 * number + 1)[-1], 'allow')
            cards = [self.wait_for_cards(2 * number + 2, person)[-1] for person in (self.person, other)]
            for card in cards:
                self.assertEqual(card['kind'], 'core-call')
                self.assertIn(self.client.unique_name, card['origin'][0])
                self.assertEqual(card['origin'][1:], [self.plugin, 'ask', 'write_file'])
            who.answer(cards[0], 'allow')
            self.assertIn('ok', json.loads(call.result(60))['structured']['done'][0])

    def test_C9_AP_24_a_claim_changes_nothing(self):
        """Where it could be a claim to a machine it is no member of a tool; in words for people it is only that."""
        for number, claim in enumerate(CLAIMS):
            source = tool_source("return 'ran'", name=f'claims_{number}').replace('description:', f'{claim},\n    description:')
            plugin = self.client.install(self.bundle(f'claims-{number}', source))['id']
            self.client.trust(plugin)
            self.assertIn('does not know', self.assertFails('ExecutionFailed', self.client.plugin, 'Enable', plugin).message)
        self.person.decide = lambda card: 'allow'
        for posture in ('ask', 'auto-review', 'never'):
            seen = []
            session = self.open_session(posture=posture)
            for tool in ('claims', 'claims_not'):
                before = len(self.person.cards)
                try:
                    self.client.tool(tool, session=session)
                    seen.append(('ran', len(self.person.cards) - before))
                except BusError as error:
                    seen.append((error.name, len(self.person.cards) - before))
            self.assertEqual(seen[0], seen[1], posture)
        self.rules(user=rule('deny', tool='claims*'))
        for tool in ('claims', 'claims_not'):
            self.assertFails('RefusedByPolicy', self.client.tool, tool)
