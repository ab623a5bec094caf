// SPDX-License-Identifier: MIT
//
// What the host needs of the language and the runtime, taken before any extension runs. An extension shares our realm and may
// patch whatever it can reach (Map.prototype.get, globalThis.setTimeout, fs.readFileSync); code that decides whether a module
// may be loaded, or that writes frames, uses only these copies, index loops and objects without a prototype.
//
// This module must be the first import of main.mjs.
// Built-in modules are taken with process.getBuiltinModule(): an import would touch every export, and thereby load streams and more
// that the host has no use for.
const { getBuiltinModule: getBuiltin } = process
const asyncHooks = getBuiltin('node:async_hooks')
const fs = getBuiltin('node:fs')
const module = getBuiltin('node:module')
const url = getBuiltin('node:url')

const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect
const { bind, call } = Function.prototype

/* uncurry(String.prototype.slice)(text, 1) is text.slice(1), whatever String.prototype.slice has become meanwhile */
const uncurry = apply(bind, bind, [call])

export { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys }
export const { defineProperty, freeze, isFrozen, keys: objectKeys } = Object
export const { isArray, prototype: ArrayPrototype } = Array
export const { isFinite: isFiniteNumber, isSafeInteger } = Number
export const { parse: parseJson, stringify: stringifyJson } = JSON
export const ObjectPrototype = Object.prototype
export const hasOwn = Object.hasOwn
export const isEnumerable = uncurry(Object.prototype.propertyIsEnumerable)

export const stringStartsWith = uncurry(String.prototype.startsWith)
export const stringEndsWith = uncurry(String.prototype.endsWith)
export const stringSlice = uncurry(String.prototype.slice)
export const stringLastIndexOf = uncurry(String.prototype.lastIndexOf)
export const stringIndexOf = uncurry(String.prototype.indexOf)
export const stringCharCodeAt = uncurry(String.prototype.charCodeAt)
export const stringIsWellFormed = uncurry(String.prototype.isWellFormed)
export const stringToWellFormed = uncurry(String.prototype.toWellFormed)

export const setTimer = globalThis.setTimeout
export const clearTimer = globalThis.clearTimeout
export const nextTurn = globalThis.setImmediate

export const bufferAlloc = Buffer.allocUnsafeSlow
export const bufferByteLength = Buffer.byteLength
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const decode = uncurry(TextDecoder.prototype.decode)
export const decodeUtf8 = bytes => decode(decoder, bytes)

export const { readFileSync, openSync, closeSync } = fs
export const { fileURLToPath, pathToFileURL } = url
export const { AsyncLocalStorage } = asyncHooks

export const getBuiltinModule = apply(bind, process.getBuiltinModule, [process])
export const endProcess = apply(bind, process.reallyExit, [process])
export const processVersion = process.version

/* sha256Hex(text): of its UTF-8. node:crypto is only loaded when something is hashed. */
let hash
export function sha256Hex(text) {
  hash ??= getBuiltinModule('node:crypto').hash
  return hash('sha256', text, 'hex')
}

export const registerModuleHooks = module.registerHooks
export const syncBuiltinExports = module.syncBuiltinESMExports
export const stripTypes = module.stripTypeScriptTypes
export const createRequire = module.createRequire
export { module }
