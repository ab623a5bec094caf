# SPDX-License-Identifier: MIT
"""A test case with rules: of the administrator, of the user, of a workspace."""

import json

from codewhale.bus import options
from codewhale.bundle import tool_source
from codewhale.case import ServiceCase


def rule(outcome, **members):
    """One [[rule]] of a file."""
    lines = [f'outcome = {json.dumps(outcome)}'] + [f'{name} = {json.dumps(value)}' for name, value in members.items()]
    return '[[rule]]\n' + '\n'.join(lines) + '\n'


class RulesCase(ServiceCase):
    """The administrator's file is a further one beside that in /etc, which belongs to the machine."""
    user = None
    administrator = None

    def prepare(self):
        self.user_file = self.daemon.home / 'permissions.toml'
        self.administrator_file = self.daemon.base / 'administrator.toml'
        self.daemon.options = [f'--permissions={self.administrator_file}']
        if self.user is not None:
            self.user_file.write_text(self.user)
        if self.administrator is not None:
            self.administrator_file.write_text(self.administrator)

    def rules(self, user=None, administrator=None):
        """Other rules from now on; None leaves a file as it is."""
        if user is not None:
            self.user_file.write_text(user)
        if administrator is not None:
            self.administrator_file.write_text(administrator)
        self.client.call('', 'Reload')

    def workspace(self, law=None, config=None, name='work'):
        """A folder with rules of its own."""
        folder = self.daemon.base / name
        for path, text in (('law.toml', law), ('config.toml', config)):
            if text is not None:
                (folder / '.codewhale').mkdir(parents=True, exist_ok=True)
                (folder / '.codewhale' / path).write_text(text)
        folder.mkdir(exist_ok=True)
        return folder

    def session(self, client=None, **more):
        return (client or self.client).call('Sessions', 'Open', '(a{sv})', options(**more))

    def tool_bundle(self, name='probe', body="return 'ran'", **more):
        return self.client.bring_up(self.bundle(name, tool_source(body, name=name, **more)))

    def trace(self, error_or_call):
        """The steps of a call's record, by call id; of the newest record without one."""
        if isinstance(error_or_call, str):
            return self.client.decision(error_or_call)['trace']
        records = json.loads(self.client.call('Decisions', 'Query', '(a{sv})', options()))
        calls = [record for record in records if record['kind'] == 'call']
        return max(calls, key=lambda record: record['time'])['trace']

    def explain(self, tool, arguments=None, **more):
        return json.loads(self.client.call('Policy', 'Explain', '(ssa{sv})', tool, json.dumps(arguments or {}), options(**more)))

    def shown(self, **more):
        return json.loads(self.client.call('Policy', 'Show', '(a{sv})', options(**more)))
