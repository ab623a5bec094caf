# SPDX-License-Identifier: MIT
"""Bundles made on the spot."""

import json
from pathlib import Path

BLOCK_FOREVER = 'while (true) {}'
SCHEMA = 'https://agent-plugins.org/schemas/plugin.json'
SAMPLES = Path(__file__).resolve().parents[3] / 'data' / 'samples'


def write_bundle(folder, name, source=None, *, manifest=None, files=None, native=None):
    """Write a bundle with one native entry; returns its folder.

    source: text of native/main.mjs. manifest: text in place of the one that is made. files: path -> text or bytes."""
    root = Path(folder) / name
    root.mkdir(parents=True)
    contents = dict(files or {})
    if source is not None:
        contents['native/main.mjs'] = source
        native = native or {'paths': ['native/main.mjs']}
    described = {'$schema': SCHEMA, 'name': name, 'version': '1.0.0', 'description': 'Made for a test.', 'license': 'MIT'}
    if native:
        described['extensions'] = {'net.codewhale': {'native': native}}
    contents['plugin.json'] = manifest if manifest is not None else json.dumps(described)
    for path, content in contents.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def tool_source(body, name='probe', parameters='{ type: "object" }', more='', inject=('tools',)):
    """An entry that registers one tool with the given body of execute(input, exec)."""
    services = ', '.join(f"'{service}'" for service in inject)
    return f'''
export const inject = [{services}]
export function apply(ctx) {{
  ctx.tools.register({{
    name: '{name}',
    description: 'Made for a test.',
    parameters: {parameters},
    async execute(input, exec) {{ {body} }},
  }})
  {more}
}}
'''
