# SPDX-License-Identifier: MIT
"""A plugin that tries to get out. Every way out is a test: it succeeds in a plain process (or says why no control is possible), it
fails in the walls of a plugin's unit even where nothing locks the runtime (or says that nothing leaves the unit by it), and it fails
in a plugin. See ways/ for what each would mean."""

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'integration'))

from codewhale import iterate_until  # noqa: E402
from places import Plugin, Scene, describe_runtime, runtimes, ways  # noqa: E402


class Ways(unittest.TestCase):
    """One scene for all ways of one runtime; the walled unit tries them all before the first is asked for."""
    runtime = None
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.scene = Scene(cls.runtime)
        cls.controls = {}
        cls.walled = None

    @classmethod
    def tearDownClass(cls):
        left = cls.scene.close()
        assert left == [], f'a unit or process is left: {left}'

    def in_the_walls(self, way):
        if self.walled is None:
            names = [row['name'] for row in ways() if not row['skip'] and not row['lives'] and not row['mark']]
            type(self).walled = self.scene.walled.attempt_all(names)
        return self.walled[way['name']]

    def assertShut(self, found, where):
        self.assertFalse(found['out'], f'{where}: {found.get("evidence")}')
        self.assertTrue(found['reason'], f'{where} says nothing')

    def tell(self, way, control, walled, plugin):
        """One line for whoever wants to know by what each was stopped."""
        words = [row['evidence'] if row['out'] else f'{row.get("code", "")} {row["reason"]}' for row in (control, walled, plugin) if row]
        print(f'# {way["name"]}: ' + ' | '.join(word.replace('\n', ' ')[:110] for word in words), flush=True)

    def check(self, way):
        control = self.scene.plain.attempt(way)
        if control['excuse'] is None:
            self.assertTrue(control['out'], f'the control proves nothing: {control}')
        walled = None if way['skip'] else self.in_the_walls(way)
        if walled and not way['inside']:
            self.assertShut(walled, 'in the walls, without a lock')
        plugin = self.in_the_plugin(way)
        self.tell(way, control, walled, plugin)

    def in_the_plugin(self, way):
        """None on a runtime that runs no plugins."""
        if not self.scene.runs_plugins:
            return None
        found = self.scene.plugin.attempt(way['name'])
        self.assertShut(found, 'in the plugin')
        return found

    def check_by_mark(self, way):
        """What it did is seen from outside."""
        world = self.scene.world
        control = self.scene.plain.attempt(way)
        self.assertTrue(world.take_mark(way['mark']), f'the control proves nothing: {control}')
        walled = self.scene.walled.attempt_all([way['name']])[way['name']]
        self.assertFalse(world.take_mark(way['mark']), 'in the walls, without a lock')
        plugin = self.scene.plugin.attempt(way['name']) if self.scene.runs_plugins else None
        self.assertFalse(world.take_mark(way['mark']), 'in the plugin')
        self.tell(way, control, walled, plugin)

    def check_that_lives(self, way):
        """What it leaves behind lives on after a plain process, and ends with the unit."""
        control = self.scene.plain.attempt(way)
        self.assertTrue(control['out'], control)
        self.assertTrue(self.scene.world.sleepers(), 'the control left nothing behind')
        self.scene.world.end_sleepers()
        found = self.scene.walled.attempt_all([way['name']])[way['name']]
        self.assertTrue(found['out'], f'in the walls there was nothing to end: {found}')
        self.assertEqual(self.scene.walled.status, 0, self.scene.walled.said)
        self.assertEqual(self.scene.world.sleepers(), [])
        self.in_the_plugin(way)


def check_refused(self):
    """What a runtime without a lock gets of the real service: nothing runs, and the reason names what is open."""
    kind, version = describe_runtime(self.runtime)
    place = Plugin(self.runtime)
    self.addCleanup(place.close)
    self.assertRaises(Exception, place.bring_up)
    iterate_until(lambda: place.facts()['HostState'] == 'failed', what='that it is refused')
    failure = place.facts()['Failure']
    for word in (f'{kind.capitalize()} {version} can\'t be locked', 'runtime = "node"'):
        self.assertIn(word, failure)
    self.assertEqual(place.client.property('Plugin', 'Lock', path=place.client.plugins()['escape'][1]), '{}')
    lock = next(check for check in json.loads(place.client.call('', 'Doctor', seconds=60))['checks'] if check['name'] == 'lock')
    self.assertEqual((lock['verdict'], lock['found']), ('failed', failure))


def make_test(way):
    def test(self):
        (self.check_that_lives if way['lives'] else self.check_by_mark if way['mark'] else self.check)(way)
    test.__doc__ = way['why']
    return test


def make_class(runtime):
    kind, version = describe_runtime(runtime)
    members = {'runtime': runtime}
    for way in ways():
        name = f'test_{way["group"]}_{re.sub("[^a-z0-9]", "_", way["name"])}'
        members[name] = make_test(way)
    if kind == 'bun':
        members['test_refused_by_its_self_test'] = check_refused
    return type(f'{kind.capitalize()}{version.split(".")[0]}', (Ways,), members)


for found in runtimes():
    made = make_class(found)
    globals()[made.__name__] = made
del Ways, made
