# SPDX-License-Identifier: MIT
"""What the result of an extension's call tells of the core calls that it made (contract 6.9)."""

import json

from codewhale import ClientCore, CoreCase, iterate_until
from codewhale.daemon import CONFIG

TOOLS = [{'name': 'read', 'requirement': 'auto'}, {'name': 'change'}, {'name': 'other'}]


class ReceiptCase(CoreCase):
    def setUp(self):
        super().setUp()
        self.answers = {'ask': 'allow'}
        self.person = self.approver(lambda card: self.answers.get(card['tool']))
        self.bring_up_asking()
        self.core = ClientCore(self.client, lambda name, arguments: None)
        self.core.register(self.session, TOOLS)

    def kept(self, result):
        return [(row['seq'], row['tool'], row['decision'], row['status']) for row in self.receipts(result)['calls']]


class Receipts(ReceiptCase):
    def test_what_still_runs_when_the_extension_has_answered(self):
        """The host takes it back; what a person was still asked about, or not even that, was decided by nobody."""
        call = self.begin(('read', {}), ('change', {}), ('other', {}), leave=True)
        iterate_until(lambda: self.core.waiting and len(self.person.cards) == 2, what='a call that runs and one that asks')
        self.lead('go')
        result = json.loads(call.result())
        self.assertEqual(self.kept(result), [
            (1, 'read', 'auto', 'failed'), (2, 'change', 'cancelled', 'refused'), (3, 'other', 'cancelled', 'refused')])
        # Nothing of them is left, and the record tells how each ended.
        iterate_until(lambda: self.core.cancelled, what='the end of the one that ran')
        iterate_until(lambda: (self.person.cards[-1]['id'], 'withdrawn') in self.person.closed, what='the end of the card')
        self.assertFails('Withdrawn', self.person.answer, self.person.cards[-1], 'allow')
        ended = {row['tool']: (row['outcome'], row.get('result')) for row in self.records(kind='core-call')}
        self.assertEqual(ended, {'read': ('allowed', 'Cancelled'), 'change': ('cancelled', None), 'other': ('cancelled', None)})
        self.assertEqual(len(self.core.calls), 1)

    def test_what_the_extension_took_back(self):
        call = self.begin({'name': 'read', 'stoppable': True}, {'name': 'change', 'stoppable': True}, together=True)
        iterate_until(lambda: self.core.waiting and len(self.person.cards) == 2, what='a call that runs and one that asks')
        self.lead('stop')
        result = json.loads(call.result())
        self.assertEqual([outcome['code'] for outcome in result['structured']['done']], ['cancelled', 'cancelled'])
        self.assertEqual(self.kept(result), [(1, 'read', 'auto', 'failed'), (2, 'change', 'cancelled', 'refused')])

    def test_what_a_person_said(self):
        self.answers |= {'change': 'allow', 'other': 'deny'}
        self.core.run = lambda name, arguments: {'content': [], 'is_error': True}
        result = self.ask(('change', {}), ('other', {}), ('agent', {}))
        self.assertEqual(self.kept(result), [
            (1, 'change', 'approved', 'failed'), (2, 'other', 'denied', 'refused'), (3, 'agent', 'refused', 'refused')])
        notes = [row.get('note') for row in self.receipts(result)['calls']]
        self.assertEqual((notes[0], 'denied' in notes[1], 'the list' in notes[2]), (None, True, True))

    def test_what_nobody_answered(self):
        """The time is set when the outer call has its answer, which takes as long as it takes."""
        call = self.begin(('change', {}), hold=True)
        self.wait_until_held()
        self.daemon.write_config(CONFIG + '[approvals]\ntimeout_sec = 1\n')
        self.client.call('', 'Reload')
        self.lead('go')
        result = json.loads(call.result(60))
        self.assertEqual(self.kept(result), [(1, 'change', 'timed_out', 'refused')])
        self.assertEqual(result['structured']['done'][0]['code'], 'denied')
