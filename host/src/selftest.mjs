// SPDX-License-Identifier: MIT
//
// The start-time self test of the lock: every door is tried for real, the way an extension would, and must answer with the one
// code that says that somebody shut it. "It threw" is not enough, a door may also fail for a boring reason. The targets do not
// exist, so a door that is open does no harm here.
import { addRoot } from './admission.mjs'
import { createRequire, getBuiltinModule, module, openSync } from './primordials.mjs'

const PROBE_ROOT = '/.codewhale-probe'
const NOWHERE = '/.codewhale-probe/nothing'

const LOCKED = ['EXT_HOST_REFUSED']
const UNKNOWN = ['ERR_UNKNOWN_BUILTIN_MODULE']
const DENIED = ['ERR_ACCESS_DENIED']
const NOT_ADMITTED = ['EXT_MODULE_REFUSED']

/* Names of modules whose load an extension would try first */
const FORBIDDEN_MODULES = ['child_process', 'cluster', 'worker_threads', 'inspector', 'vm', 'v8', 'wasi', 'sqlite', 'ffi', 'repl', 'test', 'sea', 'trace_events']

function unknownBuiltin(name) {
  return () => {
    if (getBuiltinModule(`node:${name}`) !== undefined) return
    throw Object.assign(new Error('no such module'), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' })
  }
}

/* The permission model's own answer, without loading the module in question */
function permission(scope) {
  return () => {
    if (process.permission === undefined || process.permission.has(scope)) return
    throw Object.assign(new Error('denied'), { code: 'ERR_ACCESS_DENIED' })
  }
}

/* [door, expected codes, attempt]: an attempt that returns, or fails with another code, means that the door is open */
function doorsOf(require) {
  const doors = [
    ['process.dlopen', LOCKED, () => process.dlopen({ exports: {} }, `${NOWHERE}.node`)],
    ['process.execve', LOCKED, () => process.execve?.(NOWHERE, [], {})],
    ['process.binding', LOCKED, () => process.binding('spawn_sync')],
    ['process._linkedBinding', LOCKED, () => process._linkedBinding('spawn_sync')],
    ['process.kill', LOCKED, () => process.kill(process.pid, 0)],
    ['process._debugProcess', LOCKED, () => process._debugProcess(0)],
    ['process.exit', LOCKED, () => process.exit(70)],
    ['process.abort', LOCKED, () => process.abort()],
    ['process.reallyExit', LOCKED, () => process.reallyExit(70)],
    ['process.setUncaughtExceptionCaptureCallback', LOCKED, () => process.setUncaughtExceptionCaptureCallback(null)],
    ['module.registerHooks', LOCKED, () => module.registerHooks({})],
    ['module.register', LOCKED, () => module.register(`file://${NOWHERE}.mjs`)],
    ['module.syncBuiltinESMExports', LOCKED, () => module.syncBuiltinESMExports()],
    ['module._compile', LOCKED, () => new module(NOWHERE)._compile('module.exports = 1', `${NOWHERE}.cjs`)],
    ['require.extensions[".node"]', LOCKED, () => require.extensions['.node'](new module(NOWHERE), `${NOWHERE}.node`)],
    ['process.getBuiltinModule("module")', LOCKED, () => process.getBuiltinModule('module').registerHooks({})],
    ['process.getBuiltinModule', NOT_ADMITTED, () => process.getBuiltinModule('node:child_process')],
    ['eval', LOCKED, () => globalThis.eval('1')],
    ['Function', LOCKED, () => new globalThis.Function('return 1')],
    ['AsyncFunction', LOCKED, () => new (async () => {}).constructor('return 1')],
    ['GeneratorFunction', LOCKED, () => new (function* () {}).constructor('return 1')],
    ['AsyncGeneratorFunction', LOCKED, () => new (async function* () {}).constructor('return 1')],
    ['__proto__', ['ERR_PROTO_ACCESS'], () => { ({}).__proto__ = null }],
    ['node:sqlite', UNKNOWN, unknownBuiltin('sqlite')],
    ['node:ffi', UNKNOWN, unknownBuiltin('ffi')],
    ['fs.read outside the grants', DENIED, () => openSync(NOWHERE, 'r')],
    ['fs.write outside the grants', DENIED, () => openSync(NOWHERE, 'w')],
    ['permission child', DENIED, permission('child')],
    ['permission worker', DENIED, permission('worker')],
    ['permission addon', DENIED, permission('addon')],
    ['permission wasi', DENIED, permission('wasi')],
    ['permission inspector', DENIED, permission('inspector')],
  ]
  for (const name of FORBIDDEN_MODULES) doors.push([`require node:${name}`, NOT_ADMITTED, () => require(`node:${name}`)])
  doors.push(['require outside every root', NOT_ADMITTED, () => createRequire('/elsewhere.cjs')('node:fs')])
  doors.push(['require of an unreviewed file', ['EXT_MODULE_NOT_FOUND', 'EXT_MODULE_UNREVIEWED'], () => require('./nothing.cjs')])
  if (process.execve === undefined) return doors.filter(([name]) => name !== 'process.execve')
  return doors
}

/* testLock() -> {verified: [door], open: [text]} */
export async function testLock() {
  addRoot(PROBE_ROOT, {})
  const verified = []
  const open = []
  const judge = (name, codes, error) => {
    if (error !== undefined && codes.includes(error?.code)) verified.push(name)
    else open.push(error === undefined ? `${name} is open` : `${name} answered ${error?.code ?? error?.message ?? error}`)
  }
  for (const [name, codes, attempt] of doorsOf(createRequire(`${PROBE_ROOT}/probe.cjs`))) {
    let caught
    try {
      attempt()
    } catch (error) {
      caught = error
    }
    judge(name, codes, caught)
  }
  for (const specifier of ['node:child_process', 'data:text/javascript,0'])
    judge(`import ${specifier}`, NOT_ADMITTED, await import(specifier).then(() => undefined, error => error))
  return { verified, open }
}
