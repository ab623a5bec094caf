// SPDX-License-Identifier: MIT
//
// The doors of Bun that would have to be shut before an extension may run there (contract 3.4). Each is tried for real, with
// targets that do no harm. Some could be pinned; those that come first cannot, by anything that runs in the same process: Bun
// loads data: and blob: URLs without asking a plugin of its loader, and its own loader plugins, module graphs and web views are
// properties that cannot be replaced.
import { getBuiltinModule, getOwnPropertyDescriptor } from './primordials.mjs'

const UNPINNABLE = ['plugin', 'ModuleGraph', 'WebView']

/* True when what is there cannot be replaced by a function that refuses. */
function isFixed(object, name) {
  const found = getOwnPropertyDescriptor(object, name)
  return found !== undefined && !found.configurable && !found.writable
}

/* [door, attempt]: an attempt that returns true has gone through */
const doors = [
  ['import of a data: URL', async () => (await import('data:text/javascript,export default 1')).default === 1],
  ['import of a blob: URL', async () => {
    const blob = new Blob(['export default 1'], { type: 'text/javascript' })
    return (await import(URL.createObjectURL(blob))).default === 1
  }],
  ['import as text', async () => (await import('/proc/self/comm', { with: { type: 'text' } })).default !== undefined],
  ...UNPINNABLE.map(name => [`Bun.${name}`, () => isFixed(globalThis.Bun, name)]),
  ['bun:ffi', async () => typeof (await import('bun:ffi')).dlopen === 'function'],
  ['bun:jsc', async () => typeof (await import('bun:jsc')).setTimeZone === 'function'],
  ['bun:sqlite', async () => typeof (await import('bun:sqlite')).Database === 'function'],
  ['ShadowRealm', () => new globalThis.ShadowRealm().evaluate('1') === 1],
  ['no hooks for modules', () => getBuiltinModule('node:module').registerHooks === undefined],
  ['no permission model', () => process.permission === undefined],
]

/* testBun() -> the names of the doors that are open */
export async function testBun() {
  const open = []
  for (const [name, attempt] of doors) {
    try {
      if (await attempt()) open.push(name)
    } catch { /* shut */ }
  }
  return open
}
