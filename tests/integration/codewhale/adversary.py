# SPDX-License-Identifier: MIT
"""Somebody on the same bus, as the same user, who wants what only a person may give. He is no approver of the card that he wants
answered, and he has no person at hand."""

import json

from codewhale.bus import BusError, iterate_until, options
from codewhale.bundle import tool_source
from codewhale.case import ServiceCase


class AdversaryCase(ServiceCase):
    """Each test is one way. It ends with refused() or recorded(): it failed, and the record names who tried."""

    def setUp(self):
        super().setUp()
        person = self.person()
        self.plugin = self.client.bring_up(self.bundle('probe', tool_source('return JSON.stringify(input)')))
        if person:
            person.close()
            iterate_until(self.nobody_is_there, 60, what='the end of the approver')
        self.adversary = self.connect()

    def person(self):
        """Who confirms that the first bundle is trusted, and leaves then; None where the token of the review is enough."""

    def nobody_is_there(self):
        try:
            self.client.tool('probe', seconds=10)
        except (BusError, TimeoutError) as error:
            return getattr(error, 'name', '').endswith('.NoApprover')
        return False

    def records(self, **more):
        return json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(**more)))

    def recorded(self, kind, outcome, who=None):
        """The newest record of that kind, which must end so and name its author."""
        found = self.records(kind=kind)
        self.assertTrue(found, f'no record of kind {kind}')
        self.assertEqual(found[0]['outcome'], outcome, found[0])
        self.assertEqual(found[0]['who']['name'], (who or self.adversary).unique_name, found[0])
        self.assertIn('exe', found[0]['who'])
        return found[0]

    def refused(self, error, function, *arguments, who=None, **more):
        """It fails with exactly this error, and the attempt is written down with it."""
        self.assertFails(error, function, *arguments, **more)
        self.assertEqual(self.recorded('attempt', 'refused', who)['result'], error)

    def waiting(self, caller=None, arguments=None, approver=None, **more):
        """An open card of a call of @caller, and the person's approver, which leaves it alone."""
        approver = approver or self.approver(lambda card: None)
        seen = len(approver.cards)
        call = (caller or self.client).start_tool('probe', arguments or {'a': 1}, **more)
        iterate_until(lambda: len(approver.cards) > seen, what='a card')
        return approver, call, approver.cards[seen]

    def answer(self, client, card, word='allow', digest=None, **more):
        return client.call('Approvals', 'Answer', '(tssa{sv})', card['id'], word, digest or card['digest'], options(**more))

    def assertOpen(self, card, call):
        """Nothing has changed: it waits for a person as before."""
        self.assertIn(card['id'], [row[0] for row in self.client.call('Approvals', 'List')])
        self.assertFalse(call.done)

    def assertNothingRan(self):
        """No call of the adversary came to be allowed."""
        for record in self.records(kind='call'):
            if record['who']['name'] == self.adversary.unique_name:
                self.assertNotIn(record['outcome'], ('allowed', 'approved'), record)

    def posture(self, session):
        return self.client.property('Session', 'Posture', path=session)


__all__ = ['AdversaryCase', 'BusError']
