# SPDX-License-Identifier: MIT
"""A private bus, and clients of the service on it. Every wait has an end."""

import json
import os
import subprocess
import time

import gi

gi.require_version('Gio', '2.0')
from gi.repository import Gio, GLib  # noqa: E402  pylint: disable=wrong-import-position

NAME = 'org.codewhale.Extensions'
ROOT = '/org/codewhale/Extensions'
ERROR = NAME + '.Error.'
SECONDS = 20


class BusError(Exception):
    """An error that came over the bus, by its name."""

    def __init__(self, name, message):
        super().__init__(f'{name}: {message}')
        self.name = name
        self.message = message

    @classmethod
    def of(cls, error):
        name = Gio.DBusError.get_remote_error(error) or f'local:{error.domain}:{error.code}'
        return cls(name, error.message.removeprefix(f'GDBus.Error:{name}: '))


def is_error(error, short):
    return error.name == ERROR + short


def variant(value):
    """A value of Python for a{sv}; numbers need their type and so come as GLib.Variant already."""
    if isinstance(value, GLib.Variant):
        return value
    if isinstance(value, bool):
        return GLib.Variant('b', value)
    if isinstance(value, str):
        return GLib.Variant('o' if value.startswith(ROOT + '/') else 's', value)
    raise TypeError(f'say the D-Bus type of {value!r}')


def options(**values):
    """a{sv}: handle_token='x' becomes {'handle-token': <'x'>}."""
    return {name.replace('_', '-'): variant(value) for name, value in values.items()}


def iterate_until(is_done, seconds=SECONDS, what='it'):
    """Run the main loop until is_done() or fail."""
    context = GLib.MainContext.default()
    deadline = time.monotonic() + seconds
    wake = GLib.timeout_add(20, lambda: True)
    try:
        while not is_done():
            if time.monotonic() > deadline:
                raise TimeoutError(f'{what} did not happen within {seconds:g} s')
            context.iteration(True)
    finally:
        GLib.source_remove(wake)


class PrivateBus:
    """A dbus-daemon of our own, so that nothing of the user's session is touched."""

    def __init__(self):
        self.process = subprocess.Popen(
            ['dbus-daemon', '--session', '--nofork', '--nopidfile', '--print-address=1'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise RuntimeError('dbus-daemon did not start')

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


class Pending:
    """A call whose answer is still to come."""

    def __init__(self):
        self.reply = None
        self.error = None

    @property
    def done(self):
        return self.reply is not None or self.error is not None

    def on_reply(self, connection, result):
        try:
            self.reply = connection.call_finish(result).unpack()
        except GLib.Error as error:
            self.error = BusError.of(error)

    def result(self, seconds=SECONDS):
        iterate_until(lambda: self.done, seconds, 'the answer')
        if self.error:
            raise self.error
        return self.reply[0] if len(self.reply) == 1 else self.reply or None


class Signals(list):
    """The arguments of each signal of one kind, in the order in which they came."""

    def wait(self, count=1, seconds=SECONDS):
        iterate_until(lambda: len(self) >= count, seconds, f'signal number {count}')
        return self[count - 1]


class Client:
    """One connection to the bus: one caller, as the service sees it."""

    def __init__(self, address):
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.connection.set_exit_on_close(False)

    @property
    def unique_name(self):
        return self.connection.get_unique_name()

    def close(self):
        if not self.connection.is_closed():
            self.connection.close_sync(None)

    def open_channel(self):
        """A client of the direct channel that the service opens for this one."""
        _, fds = self.connection.call_with_unix_fd_list_sync(
            NAME, ROOT, NAME, 'OpenChannel', None, None, Gio.DBusCallFlags.NO_AUTO_START, SECONDS * 1000, None, None)
        stream = Gio.Socket.new_from_fd(fds.get(0)).connection_factory_create_connection()
        channel = Client.__new__(Client)
        channel.connection = Gio.DBusConnection.new_sync(stream, None, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT, None, None)
        channel.connection.set_exit_on_close(False)
        return channel

    def vanish(self):
        """Leave the bus without a word, as a program does that is killed."""
        os.close(os.dup(self.connection.get_stream().get_socket().get_fd()))
        self.connection.get_stream().get_socket().shutdown(True, True)

    def start(self, interface, method, signature='()', *arguments, path=ROOT, seconds=SECONDS, name=NAME):
        """Send a call; the answer comes while the main loop runs."""
        pending = Pending()
        self.connection.call(
            name, path, self._full(interface), method, GLib.Variant(signature, arguments), None,
            Gio.DBusCallFlags.NO_AUTO_START, int(seconds * 1000) + 1000, None, pending.on_reply)
        return pending

    def call(self, interface, method, signature='()', *arguments, path=ROOT, seconds=SECONDS, name=NAME):
        return self.start(interface, method, signature, *arguments, path=path, seconds=seconds, name=name).result(seconds)

    def property(self, interface, name, path=ROOT):
        return self.call('org.freedesktop.DBus.Properties', 'Get', '(ss)', self._full(interface), name, path=path)

    def properties(self, interface, path=ROOT):
        return self.call('org.freedesktop.DBus.Properties', 'GetAll', '(s)', self._full(interface), path=path)

    def signals(self, interface, member, path=None):
        found = Signals()
        number = self.connection.signal_subscribe(
            NAME, self._full(interface), member, path, None, Gio.DBusSignalFlags.NONE,
            lambda *event: found.append(event[5].unpack()))
        found.forget = lambda: self.connection.signal_unsubscribe(number)
        # The match is in place once the bus has answered something that was sent after it.
        self.call('org.freedesktop.DBus', 'GetId', path='/org/freedesktop/DBus', name='org.freedesktop.DBus')
        return found

    @staticmethod
    def _full(interface):
        if '.' in interface:
            return interface
        return f'{NAME}.{interface}' if interface else NAME

    # The verbs that most tests use

    def tool(self, name, arguments=None, seconds=SECONDS, **more):
        """Call a tool; arguments are JSON text or a value."""
        return json.loads(self.start_tool(name, arguments, seconds, **more).result(seconds))

    def start_tool(self, name, arguments=None, seconds=SECONDS, **more):
        text = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
        return self.start('Tools', 'Call', '(ssa{sv})', name, text, options(**more), seconds=seconds)

    def command(self, name, text='', **more):
        return json.loads(self.call('Commands', 'Run', '(ssa{sv})', name, text, options(**more)))

    def tools(self, **more):
        return [row[0] for row in self.call('Tools', 'List', '(a{sv})', options(**more))]

    def wait_for_tools(self, *names, seconds=SECONDS):
        """Extensions are started when the service starts, and it does not wait for them."""
        iterate_until(lambda: self.tools() == list(names), seconds, f'the tools {names}')

    def plugins(self):
        """name -> (id, path, version, state)"""
        return {row[2]: (row[0], row[1], row[3], row[4]) for row in self.call('Plugins', 'List', '(a{sv})', {})}

    def plugin(self, verb, plugin, seconds=SECONDS, **more):
        return self.call('Plugins', verb, '(sa{sv})', plugin, options(**more), seconds=seconds)

    def review(self, plugin):
        return json.loads(self.plugin('Review', plugin))

    def trust(self, plugin, token=None):
        self.call('Plugins', 'Trust', '(ssa{sv})', plugin, token or self.review(plugin)['token'], {})

    def install(self, folder, **more):
        return json.loads(self.plugin('Install', str(folder), **more))

    def bring_up(self, folder):
        """Install, trust and enable a bundle; returns its id."""
        plugin = self.install(folder)['id']
        self.trust(plugin)
        self.plugin('Enable', plugin)
        return plugin

    def decision(self, call_id):
        return json.loads(self.call('Decisions', 'Get', '(s)', call_id))

    def snapshot(self, **more):
        return json.loads(self.call('Prompt', 'Snapshot', '(a{sv})', options(**more)))
