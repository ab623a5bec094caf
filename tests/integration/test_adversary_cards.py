# SPDX-License-Identifier: MIT
"""Ways to get a card answered without a person. All fail, and each leaves a record."""

import json

from codewhale import Client, iterate_until, options
from codewhale.adversary import AdversaryCase


class Answers(AdversaryCase):
    def test_01_answer_without_being_an_approver(self):
        """Whoever answers must have registered; reading the card and its digest is not enough."""
        _, call, card = self.waiting(self.adversary)
        self.refused('NotApprover', self.answer, self.adversary, card)
        self.assertOpen(card, call)
        self.assertNothingRan()

    def test_02_answer_through_the_object_of_the_card(self):
        """The card's own object judges as the root object does."""
        _, call, card = self.waiting(self.adversary)
        path = f'/org/codewhale/Extensions/approval/{card["id"]}'
        self.refused('NotApprover', self.adversary.call, 'Approval', 'Answer', '(ssa{sv})', 'allow', card['digest'], {}, path=path)
        self.assertOpen(card, call)

    def test_03_register_and_answer_the_own_card(self):
        """The connection that asks never answers its own card, approver or not."""
        _, call, card = self.waiting(self.adversary)
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('OwnApproval', self.answer, self.adversary, card)
        self.assertOpen(card, call)

    def test_04_answer_the_own_card_over_a_direct_channel(self):
        """A channel has the identity of the connection that opened it."""
        _, call, card = self.waiting(self.adversary)
        channel = self.adversary.open_channel()
        self.addCleanup(channel.close)
        channel.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('OwnApproval', channel.call, 'Approvals', 'Answer', '(tssa{sv})', card['id'], 'allow', card['digest'], {})
        self.assertOpen(card, call)

    def test_05_call_over_a_channel_and_answer_over_the_bus(self):
        """The same the other way round."""
        approver = self.approver(lambda card: None)
        channel = self.adversary.open_channel()
        self.addCleanup(channel.close)
        call = channel.start('Tools', 'Call', '(ssa{sv})', 'probe', '{}', {})
        iterate_until(lambda: approver.cards, what='a card')
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('OwnApproval', self.answer, self.adversary, approver.cards[0])
        self.assertOpen(approver.cards[0], call)

    def test_06_be_the_only_approver_oneself(self):
        """Then nobody is there to ask, and no card opens that could be answered by trickery."""
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.assertFails('NoApprover', self.adversary.tool, 'probe')
        self.recorded('call', 'no-approver')
        self.assertEqual(self.client.call('Approvals', 'List'), [])

    def test_07_answer_a_card_that_was_never_shown(self):
        """An answer names the digest of what was shown; a guess is no reading."""
        _, call, card = self.waiting()
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        for digest in ('0' * 64, '', card['digest'].upper(), card['digest'][:-1], card['digest'] + '0'):
            self.refused('DigestMismatch', self.answer_with, card, digest)
        self.assertOpen(card, call)

    def answer_with(self, card, digest):
        return self.adversary.call('Approvals', 'Answer', '(tssa{sv})', card['id'], 'allow', digest, {})

    def test_08_answer_with_the_digest_of_another_card(self):
        """A yes to harmless arguments is none to others."""
        approver, first, harmless = self.waiting(self.adversary, {'a': 'harmless'})
        _, second, harmful = self.waiting(self.adversary, {'a': 'harmful'}, approver)
        self.refused('DigestMismatch', self.answer, approver, harmful, 'allow', harmless['digest'], who=approver)
        self.assertOpen(harmless, first)
        self.assertOpen(harmful, second)

    def test_09_answer_a_card_twice(self):
        """The first answer counts; a second one changes nothing and is told so."""
        approver, call, card = self.waiting(self.adversary)
        approver.answer(card, 'deny')
        self.assertFails('Denied', call.result)
        helper = self.connect()
        helper.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('AlreadyDecided', self.answer, helper, card, who=helper)
        self.assertNothingRan()

    def test_10_answer_a_card_that_was_withdrawn(self):
        """Its call is over: there is nothing left that a yes could start."""
        approver = self.approver(lambda card: None)
        caller = Client(self.bus.address)
        caller.start_tool('probe', {'a': 1})
        iterate_until(lambda: approver.cards, what='a card')
        caller.vanish()
        approver.closed.wait()
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        self.refused('Withdrawn', self.answer, self.adversary, approver.cards[0])

    def test_11_answer_a_card_of_the_future(self):
        """Numbers can be guessed, cards can't be answered before they are there."""
        self.adversary.call('Approvals', 'Register', '(a{sv})', {})
        for number in (0, 1, 2, 2 ** 64 - 1):
            self.refused('NoSuchApproval', self.answer, self.adversary, {'id': number, 'digest': '0' * 64})
        _, call, card = self.waiting()
        self.assertOpen(card, call)

    def test_12_smuggle_a_yes_into_the_call(self):
        """An option that nobody knows is refused, not ignored."""
        for word in ('approved', 'grant', 'posture', 'full-access', 'approval'):
            self.refused('InvalidOption', self.adversary.tool, 'probe', **{word: True})
        self.assertNothingRan()

    def test_13_pretend_to_be_the_service(self):
        """Signals that anybody sent are nobody's: an approver still shows the card, and it can still be answered."""
        from gi.repository import GLib
        approver, call, card = self.waiting()
        for sender in (self.adversary, self.connect()):
            sender.connection.emit_signal(None, '/org/codewhale/Extensions', 'org.codewhale.Extensions.Approvals', 'Closed',
                                          GLib.Variant('(ts)', (card['id'], 'allowed')))
        self.adversary.call('Decisions', 'Query', '(a{sv})', {})  # it was delivered by now
        self.assertEqual(approver.closed, [])
        self.assertOpen(card, call)
        approver.answer(card, 'deny')
        self.assertFails('Denied', call.result)
        self.assertEqual(self.records(kind='answer')[0]['answered_by'].count(approver.unique_name), 1)

    def test_14_take_the_name_of_the_service(self):
        """Whoever would own it could answer everything; the service lets nobody replace it."""
        reply = self.adversary.call('org.freedesktop.DBus', 'RequestName', '(su)', 'org.codewhale.Extensions', 2 | 4,
                                    path='/org/freedesktop/DBus', name='org.freedesktop.DBus')
        self.assertEqual(reply, 3)  # exists
        self.assertFails('NoApprover', self.adversary.tool, 'probe')
        self.recorded('call', 'no-approver')

    def test_15_change_the_arguments_under_an_open_card(self):
        """The card holds a copy of what will run; what the caller's memory file holds later is nobody's concern."""
        import mmap
        import os
        from gi.repository import Gio, GLib
        approver = self.approver(lambda card: None)
        fd = os.memfd_create('arguments', os.MFD_ALLOW_SEALING)
        os.write(fd, b'{"a": "harmless"}')
        files = Gio.UnixFDList.new_from_array([fd])
        view = mmap.mmap(fd, 17)
        self.addCleanup(view.close)
        with self.assertRaises(GLib.Error) as caught:
            self.adversary.connection.call_with_unix_fd_list_sync(
                'org.codewhale.Extensions', '/org/codewhale/Extensions', 'org.codewhale.Extensions.Tools', 'CallFd',
                GLib.Variant('(sha{sv})', ('probe', 0, {})), None, 0, 10000, files, None)
        self.assertIn('InvalidArguments', caught.exception.message)
        self.assertEqual(self.recorded('attempt', 'refused')['result'], 'InvalidArguments')
        self.assertEqual(approver.cards, [])

    def test_16_flood_until_a_person_says_yes_to_everything(self):
        """One client has a bounded number of cards; the next call is refused, and others are asked about as before."""
        approver = self.approver(lambda card: None)
        calls = [self.adversary.start_tool('probe', {'n': number}) for number in range(80)]
        iterate_until(lambda: any(call.done for call in calls), what='a refusal')
        self.assertFails('LimitExceeded', next(call for call in calls if call.done).result)
        _, call, card = self.waiting(self.client, {'mine': True}, approver)
        self.assertOpen(card, call)
        self.assertNothingRan()
        refused = [record for record in self.records(kind='call') if record['outcome'] == 'refused-by-policy']
        self.assertTrue(refused and 'Too many approvals' in json.dumps(refused[0]), refused)

    def test_17_flood_the_record_with_refusals(self):
        """What was decided stays to be found: attempts are metered, and the next record says how many were left out."""
        self.assertFails('NoApprover', self.adversary.tool, 'probe')
        for _ in range(300):
            self.assertFails('NotApprover', self.answer, self.adversary, {'id': 1, 'digest': '0' * 64})
        attempts = self.records(kind='attempt', limit=_u(1000))
        self.assertIn(len(attempts), range(1, 100))
        self.assertEqual({(row['result'], row['who']['name']) for row in attempts}, {('NotApprover', self.adversary.unique_name)})
        self.assertTrue(self.recorded('call', 'no-approver'))


def _u(number):
    from gi.repository import GLib
    return GLib.Variant('u', number)


assert options
