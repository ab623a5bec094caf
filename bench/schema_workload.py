# SPDX-License-Identifier: MIT
"""The schemas, instances and documents that bench/schema measures with. Deterministic: the same bytes on every machine."""

import json
import random
from pathlib import Path

DIALECT = 'https://json-schema.org/draft/2020-12/schema'
WORDS = 'the quick brown fox jumps over lazy dog caf\u00e9 na\u00efve \u4e16\u754c line\nbreak quote" tab\t'.split(' ')


def compact(value):
    return json.dumps(value, separators=(',', ':'))


def whole(low, high=None):
    return {'type': 'integer', 'minimum': low} | ({} if high is None else {'maximum': high})


def text(low=None, high=None, pattern=None):
    rules = {'minLength': low, 'maxLength': high, 'pattern': pattern}
    return {'type': 'string'} | {name: rule for name, rule in rules.items() if rule is not None}


def record(properties, required=(), closed=True):
    found = {'type': 'object', 'properties': properties}
    if required:
        found['required'] = list(required)
    return found | ({'additionalProperties': False} if closed else {})


def small():
    schema = {'$schema': DIALECT} | record({
        'path': text(1, 4096), 'encoding': {'enum': ['utf-8', 'latin-1', 'base64']}, 'max_bytes': whole(1, 1048576)}, ['path'])
    return schema, {'path': '/home/user/project/src/main.c', 'encoding': 'utf-8', 'max_bytes': 65536}


def medium():
    person = record({'name': text(1), 'email': text(pattern=r'^[^@\s]+@[^@\s]+\.[a-z]{2,}$')}, ['name', 'email'])
    one_of_person = {'$ref': '#/$defs/person'}
    repository = record({'kind': {'const': 'repo'}, 'owner': text(), 'repo': text()}, ['kind', 'owner', 'repo'], False)
    board = record({'kind': {'const': 'board'}, 'board_id': {'type': 'integer'}}, ['kind', 'board_id'], False)
    flag = {'type': 'boolean'}
    schema = {'$schema': DIALECT, '$defs': {'person': person, 'label': text(pattern='^[a-z][a-z0-9-]{0,30}$')}} | record({
        'title': text(1, 200), 'body': text(), 'priority': {'enum': ['low', 'normal', 'high', 'urgent']},
        'labels': {'type': 'array', 'items': {'$ref': '#/$defs/label'}, 'maxItems': 20, 'uniqueItems': True},
        'assignee': one_of_person, 'watchers': {'type': 'array', 'items': one_of_person, 'maxItems': 10},
        'due': text(pattern=r'^\d{4}-\d{2}-\d{2}$'),
        'estimate': {'anyOf': [{'type': 'null'}, whole(0, 1000), text(pattern=r'^\d+[hdw]$')]},
        'target': {'anyOf': [repository, board]},
        'options': record({'notify': flag, 'dry_run': flag, 'retries': whole(0, 5)}),
        'ratio': {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 1},
        'meta': {'type': 'object', 'additionalProperties': text(high=256)}}, ['title', 'priority', 'target'])
    instance = {
        'title': 'Crash when the sandbox host exits early',
        'body': 'Steps: start the service, kill the host, call the tool again. Expected a clean error, saw a hang of 30 s.',
        'priority': 'high', 'labels': ['bug', 'sandbox', 'needs-triage'],
        'assignee': {'name': 'Ada Lovelace', 'email': 'ada@example.org'},
        'watchers': [{'name': 'Grace Hopper', 'email': 'grace@example.org'}, {'name': 'Alan Turing', 'email': 'alan@example.org'}],
        'due': '2026-12-24', 'estimate': '3d', 'target': {'kind': 'board', 'board_id': 42},
        'options': {'notify': True, 'dry_run': False, 'retries': 2}, 'ratio': 0.25, 'meta': {'origin': 'cli', 'session': 'a1b2c3'}}
    return schema, instance


def large(chance):
    item = record({
        'id': whole(0), 'name': text(1, 64), 'kind': {'enum': ['file', 'dir', 'link']}, 'score': {'type': 'number'},
        'tags': {'type': 'array', 'items': text(), 'maxItems': 8}, 'ok': {'type': 'boolean'}}, ['id', 'name', 'kind'])
    schema = {'$schema': DIALECT} | record({'items': {'type': 'array', 'maxItems': 5000, 'items': item}}, ['items'], False)
    kinds = ['file', 'dir', 'link']
    return schema, {'items': [
        {'id': i, 'name': f'entry-{i:04d}.txt', 'kind': kinds[i % 3], 'score': round(chance.random() * 100, 3),
         'tags': [f't{i % 7}', 'x'], 'ok': i % 2 == 0} for i in range(1000)]}


def document(chance, size):
    """Records of numbers, escapes and text beyond ASCII, until there are so many bytes."""
    parts, length = [], 12
    while length < size:
        one = {'id': len(parts), 'name': ' '.join(chance.choice(WORDS) for _ in range(6)), 'score': chance.random() * 1000,
               'n': chance.randrange(-10**9, 10**9), 'ok': chance.random() < .5, 'none': None,
               'tags': [chance.choice(WORDS) for _ in range(3)], 'pos': {'x': chance.random(), 'y': chance.random()}}
        parts.append(json.dumps(one, ensure_ascii=False, separators=(',', ':')))
        length += len(parts[-1].encode()) + 1
    return '{"items":[' + ','.join(parts) + ']}'


def write(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(7)
    for name, (schema, instance) in {'small': small(), 'medium': medium(), 'large': large(chance)}.items():
        (folder / f'{name}.schema.json').write_text(compact(schema))
        (folder / f'{name}.json').write_text(compact(instance))
    for name, size in (('1k', 1024), ('64k', 65536), ('1m', 1048576)):
        (folder / f'doc-{name}.json').write_text(document(chance, size))
