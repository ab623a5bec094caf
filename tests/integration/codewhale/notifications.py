# SPDX-License-Identifier: MIT
"""A notification server on the private bus, which keeps what it is told."""

from codewhale.bus import Client, GLib

from gi.repository import Gio  # noqa: E402  pylint: disable=wrong-import-position

NAME = 'org.freedesktop.Notifications'
PATH = '/org/freedesktop/Notifications'
XML = f'''<node><interface name="{NAME}">
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="as" direction="in"/><arg type="a{{sv}}" direction="in"/><arg type="i" direction="in"/>
<arg type="u" direction="out"/></method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
</interface></node>'''


class NotificationServer(Client):
    """silent: it takes calls and never answers."""

    def __init__(self, address, abilities=('actions', 'body'), silent=False, own=True):
        super().__init__(address)
        self.abilities, self.silent = list(abilities), silent
        self.shown, self.closed, self.last_id = [], [], 0
        interface = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
        self.connection.register_object(PATH, interface, self._on_call, None, None)
        if own:
            self.call('org.freedesktop.DBus', 'RequestName', '(su)', NAME, 4, path='/org/freedesktop/DBus', name='org.freedesktop.DBus')

    def _on_call(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        arguments = parameters.unpack()
        if method == 'Notify':
            self.shown.append(dict(zip(('app', 'replaces', 'icon', 'summary', 'body', 'actions', 'hints', 'timeout'), arguments)))
            self.last_id = arguments[1] or self.last_id + 1
            if not self.silent:
                invocation.return_value(GLib.Variant('(u)', (self.last_id,)))
        elif method == 'CloseNotification':
            self.closed.append(arguments[0])
            invocation.return_value(None)
        elif not self.silent:
            invocation.return_value(GLib.Variant('(as)', (self.abilities,)))

    def click(self, number=None, action='default'):
        self.connection.emit_signal(None, PATH, NAME, 'ActionInvoked', GLib.Variant('(us)', (number or self.last_id, action)))
