// SPDX-License-Identifier: MIT
//
// The in-process lock (contract 3.4): what could start native code, another process, a thread, a debugger, a realm without the
// lock, or end the host, is replaced by a function that throws. It closes what the runtime's flags leave open and is no
// boundary by itself: that is the sandbox of the unit. selftest.mjs tries the doors before the host says hello.
//
// Replacing a property of a built-in module does not reach the named exports that ES modules import until
// syncBuiltinESMExports() ran, so that comes last, and is taken away as well.
import {
  apply, defineProperty, freeze, getBuiltinModule, getOwnPropertyDescriptor, getPrototypeOf, isEnumerable, module, syncBuiltinExports,
} from './primordials.mjs'
import { builtinName, isAllowedBuiltin, isCompilable, refuseBuiltin } from './admission.mjs'
import { RefusedError } from './errors.mjs'

const PROCESS_DOORS = [
  'dlopen', 'execve', 'binding', '_linkedBinding', '_debugProcess', '_debugEnd', '_startProfilerIdleNotifier',
  '_stopProfilerIdleNotifier', 'exit', 'abort', 'reallyExit', 'kill', '_kill', 'chdir', 'setuid', 'setgid', 'seteuid', 'setegid',
  'setgroups', 'initgroups', 'setUncaughtExceptionCaptureCallback', 'addUncaughtExceptionCaptureCallback', 'openStdin',
  '_getActiveHandles', '_getActiveRequests',
]
const MODULE_DOORS = [
  'registerHooks', 'register', 'runMain', 'enableCompileCache', 'flushCompileCache', 'setSourceMapsSupport', '_initPaths',
  '_preloadModules', 'syncBuiltinESMExports',
]
/* Kept as they are, but nobody may replace them: the loader calls them by name. */
const MODULE_FIXED = ['_load', '_resolveFilename', '_findPath', '_resolveLookupPaths', '_nodeModulePaths', '_extensions', '_cache', '_pathCache']
const REPORT_DOORS = ['writeReport', 'getReport']

/* Every door that is shut by this module, as the self test calls it: [name, how it is tried] */
export const pinned = []

function pin(object, name, value) {
  const found = getOwnPropertyDescriptor(object, name)
  defineProperty(object, name, { value, enumerable: found?.enumerable ?? false, writable: false, configurable: false })
}

function refusing(name, why = '') {
  const refuse = function () {
    throw new RefusedError(`${name} is not available to extensions${why}`)
  }
  defineProperty(refuse, 'name', { value: name })
  return freeze(refuse)
}

function shut(object, label, names) {
  for (const name of names) {
    if (!(name in object)) continue
    const refuse = refusing(`${label}.${name}`)
    if (object === process && name === 'chdir') pinChdir(refuse)
    else pin(object, name, refuse)
    pinned.push(`${label}.${name}`)
  }
}

/* console and direct writes to standard output go to standard error, so that the channel stays clean. Standard input is the
 * channel too: an extension reads nothing there. */
function rebindStandardStreams() {
  const { get } = getOwnPropertyDescriptor(process, 'stderr')
  const stderr = () => apply(get, process, [])
  defineProperty(process, 'stdout', { get: stderr, enumerable: true, configurable: false })
  defineProperty(process, 'stderr', { get: stderr, enumerable: true, configurable: false })
  let nothing
  defineProperty(process, 'stdin', {
    get: () => nothing ??= getBuiltinModule('node:stream').Readable.from([]),
    enumerable: true,
    configurable: false,
  })
}

function pinBuiltinAccess() {
  pin(process, 'getBuiltinModule', freeze(function (id) {
    const text = `${id}`
    const name = builtinName(text)
    if (name !== undefined && !isAllowedBuiltin(name)) throw refuseBuiltin(name)
    return getBuiltinModule(text)
  }))
}

/* CommonJS: only a text that was admitted for this very file is compiled, whoever asks. module.wrap and module.wrapper make the
 * loader compile something else than the text, and are accessors that cannot be pinned: they are looked at before each use. */
function pinCompile() {
  const { _compile: compile } = module.prototype
  const { wrap } = module
  const [before, after] = module.wrapper
  const unwrapped = () => module.wrap === wrap && module.wrapper[0] === before && module.wrapper[1] === after
  pin(module.prototype, '_compile', function (...args) {
    if (!isCompilable(args[1], args[0]) || !unwrapped())
      throw new RefusedError('compiling a text that was not reviewed is not available to extensions')
    return apply(compile, this, args)
  })
  for (const name of ['load', 'require']) pin(module.prototype, name, module.prototype[name])
}

function pinModules() {
  shut(module, 'module', MODULE_DOORS)
  for (const name of MODULE_FIXED) if (name in module) pin(module, name, module[name])
  pinCompile()
}

/* eval and the function constructors. The flag that V8 has for this costs 40 to 80 ms of every start, this costs nothing. */
function pinCodeGeneration() {
  const refuseCode = name => {
    const refuse = function () {
      const error = new EvalError(`${name} of a text is not available to extensions`)
      error.code = 'EXT_HOST_REFUSED'
      throw error
    }
    defineProperty(refuse, 'name', { value: name })
    return refuse
  }
  const constructors = [
    Function, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor,
  ]
  for (const original of constructors) {
    const replacement = refuseCode(original.name)
    defineProperty(replacement, 'prototype', { value: original.prototype, writable: false })
    if (original !== Function) Object.setPrototypeOf(replacement, Function.prototype.constructor)
    defineProperty(original.prototype, 'constructor', { value: freeze(replacement), writable: false, configurable: false })
  }
  pin(globalThis, 'Function', Function.prototype.constructor)
  pin(globalThis, 'eval', freeze(refuseCode('eval')))
}

/* There is no network in the sandbox. Saying so beats the error of a library that found none, and loading that library: to look
 * at WebSocket, or to define it anew, costs 45 ms of every start, because V8 makes its value for that; to delete it does not. */
const NETWORK = ['fetch', 'WebSocket', 'EventSource']

function pinWithoutLooking(name, value) {
  const enumerable = isEnumerable(globalThis, name)
  delete globalThis[name]
  defineProperty(globalThis, name, { value, enumerable, writable: false, configurable: false })
}

/* The runtime's own modules replace chdir() when they are loaded late (Response and Headers do that), and must not fail for it. */
function pinChdir(refuse) {
  defineProperty(process, 'chdir', { get: () => refuse, set: freeze(() => {}), enumerable: true, configurable: false })
}

function pinGlobals() {
  for (const name of NETWORK) {
    if (!(name in globalThis)) continue
    pinWithoutLooking(name, refusing(name, ': it has no network; what it needs comes as arguments, or from the core'))
  }
  for (const name of ['Worker', 'SharedWorker']) if (name in globalThis) pin(globalThis, name, refusing(name))
  if ('ShadowRealm' in globalThis) delete globalThis.ShadowRealm
}

/* lockRuntime(onUncaught): after this call, what an extension can reach of the runtime is what it may use. @onUncaught gets every
 * error that nobody caught, rejected promises included. */
export function lockRuntime(onUncaught) {
  process.setUncaughtExceptionCaptureCallback(onUncaught)
  rebindStandardStreams()
  shut(process, 'process', PROCESS_DOORS)
  pin(process, '_fatalException', process._fatalException)
  const report = process.report ?? {}
  for (const target of [report, getPrototypeOf(report)]) if (target !== Object.prototype) shut(target, 'process.report', REPORT_DOORS.filter(name => Object.hasOwn(target, name)))
  pinBuiltinAccess()
  pinModules()
  pinGlobals()
  pinCodeGeneration()
  syncBuiltinExports()
}
