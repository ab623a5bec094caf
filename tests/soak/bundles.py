# SPDX-License-Identifier: MIT
"""The extensions of the soak: some that must always answer right, and one for each way to misbehave."""

GOOD = '''
export const inject = ['tools', 'commands', 'storage', 'prompt']
export function apply(ctx) {
  let last = Promise.resolve()
  const next = () => (last = last.catch(() => {}).then(async () => {
    const count = Number(await ctx.storage.get('count') ?? 0) + 1
    await ctx.storage.set('count', count)
    return count
  }))
  ctx.tools.register({ name: '@_add', description: 'Adds.', parameters: { type: 'object', required: ['a', 'b'],
    properties: { a: { type: 'integer' }, b: { type: 'integer' } } }, execute: ({ a, b }) => ({ sum: a + b, who: '@' }) })
  ctx.tools.register({ name: '@_count', description: 'Counts.', parameters: { type: 'object' }, execute: async () => ({ count: await next(), who: '@' }) })
  ctx.tools.register({ name: '@_wait', description: 'Waits.', parameters: { type: 'object' },
    execute: ({ ms }, { signal }) => new Promise((done, fail) => {
      const timer = setTimeout(() => done({ waited: ms, who: '@' }), ms)
      signal.addEventListener('abort', () => { clearTimeout(timer); fail(new Error('aborted')) })
    }) })
  ctx.tools.register({ name: '@_large', description: 'Answers at length.', parameters: { type: 'object' }, execute: ({ size }) => 'x'.repeat(size) })
  ctx.commands.register({ name: '@-say', description: 'Says.', handler: ({ args }) => `@ ${args}` })
  ctx.prompt.registerSection({ id: 'soak', text: 'The section of @.' })
}
'''

# One tool each, bad_KIND, whose call does it.
BAD = {
    'spin': 'while (true) {}',
    'garbage': 'fs.writeSync(1, "no frame at all, and long enough to be read as one"); await new Promise(() => {})',
    'memory': 'const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(1 << 26, 1)); return all.length',
    'heap': 'const all = []; for (;;) all.push(new Array(1e5).fill({}).map(() => ({})))',
    'throw': 'throw new Error("as always")',
    'reject-later': 'setTimeout(() => Promise.reject(new Error("later")), 10); return "said before"',
    'log': 'for (let i = 0; i < 3000; i++) ctx.logger.warn("line %d of a flood %s", i, "x".repeat(200)); return "flooded"',
    'deaf': 'await new Promise(done => setTimeout(done, 60000)); return "late"',
    'register-much': 'for (let i = 0; i < 200; i++) ctx.tools.register({ name: `much_${i}`, description: "d", parameters: { type: "object" }, execute: () => 1 }); return "many"',
    'storage-full': 'for (let i = 0; i < 40; i++) await ctx.storage.set(`k${i}`, "x".repeat(130000)); return "filled"',
    'files': 'for (let i = 0; i < 50; i++) fs.writeFileSync(`/data/f${i}`, "x".repeat(1000)); return "written"',
    'deep': 'let value = 1; for (let i = 0; i < 200; i++) value = [value]; return value',
    'huge': 'return "x".repeat(40 << 20)',
    'half-frame': 'fs.writeSync(1, Buffer.from("CWX1\\x10\\0\\0\\0{\\"json", "latin1")); await new Promise(() => {})',
}


def good_source(name):
    return GOOD.replace('@', name)


def bad_source(kind):
    return f'''
import fs from 'node:fs'
export const inject = ['tools', 'storage']
export function apply(ctx) {{
  ctx.tools.register({{ name: 'bad_{kind.replace("-", "_")}', description: 'Misbehaves.', parameters: {{ type: 'object' }}, async execute() {{
    {BAD[kind]}
  }} }})
}}
'''
