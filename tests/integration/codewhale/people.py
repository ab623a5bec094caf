# SPDX-License-Identifier: MIT
"""An approver: a connection that shows cards to somebody. Here that somebody is a function."""

import json
import os

from codewhale.bus import Client, options


class Approver(Client):
    """Answers each card with what `decide(card)` returns: 'allow', 'deny', ('allow', scope) or None for no answer."""

    def __init__(self, address, decide=None):
        super().__init__(address)
        self.decide = decide or (lambda card: 'allow')
        self.cards = []
        self.failures = []
        self.closed = self.signals('Approvals', 'Closed')
        self.opened = self.signals('Approvals', 'Opened')
        self.connection.signal_subscribe(
            'org.codewhale.Extensions', 'org.codewhale.Extensions.Approvals', 'Opened', None, None, 0,
            lambda *event: self._on_opened(event[5].unpack()[0]))
        self.call('Approvals', 'Register', '(a{sv})', options(label='test'))

    def _on_opened(self, number):
        self.connection.call(
            'org.codewhale.Extensions', '/org/codewhale/Extensions', 'org.codewhale.Extensions.Approvals', 'Describe',
            self._number(number), None, 0, 10000, None, self._on_described)

    @staticmethod
    def _number(number):
        from gi.repository import GLib
        return GLib.Variant('(t)', (number,))

    def _on_described(self, connection, result):
        from gi.repository import GLib
        try:
            card = json.loads(connection.call_finish(result).unpack()[0])
        except GLib.Error as error:
            self.failures.append(error.message)
            return
        self.cards.append(card)
        decision = self.decide(card)
        if decision is None:
            return
        word, scope = (decision, None) if isinstance(decision, str) else decision
        self.start('Approvals', 'Answer', '(tssa{sv})', card['id'], word, card['digest'], options(scope=scope) if scope else {})

    def answer(self, card, word, digest=None, **more):
        return self.call('Approvals', 'Answer', '(tssa{sv})', card['id'], word, digest or card['digest'], options(**more))

    def open_arguments(self, card):
        """The exact final arguments of a card, whole."""
        from gi.repository import Gio
        reply, fds = self.connection.call_with_unix_fd_list_sync(
            'org.codewhale.Extensions', f'/org/codewhale/Extensions/approval/{card["id"]}', 'org.codewhale.Extensions.Approval', 'OpenArguments',
            None, None, Gio.DBusCallFlags.NONE, 10000, None, None)
        fd = fds.get(reply.unpack()[0])
        try:
            return os.pread(fd, os.fstat(fd).st_size, 0).decode()
        finally:
            os.close(fd)
