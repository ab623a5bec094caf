# SPDX-License-Identifier: MIT
"""Core calls: an extension that passes on what it is told, a session with a workspace, a client that is a core."""

import json
from pathlib import Path

from codewhale.bus import GLib, Gio, iterate_until, options
from codewhale.bundle import tool_source
from codewhale.case import ServiceCase

# The input lists the calls to make: {calls: [{name, input, stoppable?}], together?, hold?, leave?}. What became of each comes back.
ASKING = '''
const one = async ({ name, input, stoppable }) => {
  const stop = stoppable ? new AbortController() : undefined
  if (stop) stops.push(stop)
  try {
    return { ok: await exec.core.call(name, input ?? {}, stop ? { signal: stop.signal } : {}) }
  } catch (error) {
    return { code: error.code, name: error.name, message: error.message }
  }
}
if (!exec.core) return { core: false }
if (input.hold) await new Promise(next => held.push(next))
const done = []
if (input.leave) {
  for (const call of input.calls) void one(call)
  await new Promise(next => held.push(next))
} else if (input.together) done.push(...await Promise.all((input.calls ?? []).map(one)))
else for (const call of input.calls ?? []) done.push(await one(call))
if (input.spin) { const end = Date.now() + input.spin; while (Date.now() < end) await new Promise(next => setTimeout(next, 20)) }
return { core: true, done }
'''

# What it does in the middle of a call, a command tells it: no test has to guess how long something takes.
LED = '''
const held = [], stops = []
ctx.commands.register({ name: 'NAME-held', description: 'How many calls are held', handler: () => String(held.length) })
ctx.commands.register({ name: 'NAME-go', description: 'Let the first one go on', handler: () => { held.shift()(); return 'it goes on' } })
ctx.commands.register({ name: 'NAME-stop', description: 'Take back what can be', handler: () => { stops.splice(0).forEach(stop => stop.abort()); return 'taken back' } })
'''


class CoreCase(ServiceCase):
    """A session with a workspace, and a tool `ask` that makes core calls."""

    def setUp(self):
        super().setUp()
        self.workspace = (self.daemon.base / 'work').resolve()
        self.workspace.mkdir()
        self.session = self.open_session()

    def open_session(self, client=None, **more):
        more.setdefault('workspace', str(self.workspace))
        return (client or self.client).call('Sessions', 'Open', '(a{sv})', options(**more))

    def bring_up_asking(self, name='asking', tool='ask', more='', body=ASKING, inject=('tools',)):
        if ASKING in body:
            more, inject = LED.replace('NAME', name) + more, tuple(dict.fromkeys((*inject, 'commands')))
        self.plugin = self.client.bring_up(self.bundle(name, tool_source(body, name=tool, more=more, inject=inject)))
        return self.plugin

    def write(self, path, text):
        target = Path(self.workspace, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def begin(self, *calls, tool='ask', session=None, seconds=60, client=None, deadline_ms=None, **more):
        """Start the tool with these calls: (name, input) or a dict."""
        listed = [call if isinstance(call, dict) else {'name': call[0], 'input': call[1]} for call in calls]
        extra = {'session': session or self.session}
        if deadline_ms:
            extra['deadline_ms'] = GLib.Variant('u', deadline_ms)
        if 'origin' in more:
            extra['origin'] = more.pop('origin')
        return (client or self.client).start_tool(tool, {'calls': listed, **more}, seconds, **extra)

    def lead(self, word, name='asking'):
        """Tell the extension `held` (how many calls are), `go` or `stop`."""
        return self.client.command(f'{name}-{word}', session=self.session)['text']

    def wait_until_held(self, name='asking'):
        iterate_until(lambda: self.lead('held', name) != '0', what='a call that is held')

    def ask(self, *calls, seconds=60, **more):
        """The whole result of the outer call."""
        return json.loads(self.begin(*calls, seconds=seconds, **more).result(seconds))

    def outcomes(self, *calls, **more):
        return self.ask(*calls, **more)['structured']['done']

    def one(self, name, arguments=None, **more):
        return self.outcomes((name, arguments or {}), **more)[0]

    def text(self, *call, **more):
        outcome = self.one(*call, **more)
        self.assertIn('ok', outcome)
        self.assertFalse(outcome['ok']['isError'], outcome)
        return outcome['ok']['content'][0]['text']

    def receipts(self, result):
        return result['core_calls']

    def records(self, **more):
        """The decisions that match, the newest first."""
        return json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options(**more)))

    def set_posture(self, posture, session=None):
        self.client.call('Session', 'SetPosture', '(s)', posture, path=session or self.session)


class ClientCore:
    """Makes a client the core of a session: exports the interface that the service calls."""

    INTERFACE = '''<node><interface name="org.codewhale.Extensions.Core">
      <method name="Call"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
        <arg type="a{sv}" direction="in"/><arg type="s" direction="out"/></method>
      <method name="Cancel"><arg type="s" direction="in"/></method></interface></node>'''
    PATH = '/org/example/core'

    def __init__(self, client, run, path=PATH):
        self.client, self.run, self.path = client, run, path
        self.calls, self.cancelled, self.waiting = [], [], []
        info = Gio.DBusNodeInfo.new_for_xml(self.INTERFACE).interfaces[0]
        self.number = client.connection.register_object(path, info, self._on_method, None, None)

    def register(self, session, tools, client=None):
        return (client or self.client).call('Sessions', 'RegisterCore', '(oosa{sv})', session, self.path,
                                            tools if isinstance(tools, str) else json.dumps(tools), {})

    def _on_method(self, _connection, _sender, _path, _interface, method, arguments, invocation):
        values = arguments.unpack()
        if method == 'Cancel':
            self.cancelled.append(values[0])
            invocation.return_value(None)
            return
        call_id, name, text, facts = values
        self.calls.append((call_id, name, json.loads(text), facts))
        try:
            result = self.run(name, json.loads(text))
        except Exception as error:  # pylint: disable=broad-except
            invocation.return_dbus_error('org.example.Broken', str(error))
            return
        if result is None:
            self.waiting.append(invocation)
        else:
            invocation.return_value(GLib.Variant('(s)', (result if isinstance(result, str) else json.dumps(result),)))
