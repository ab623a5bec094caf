// SPDX-License-Identifier: MIT
//
// Which modules an extension may load. The rule: a text is handed to the runtime only if its SHA-256 stands in the reviewed
// inventory of the root that the importing module belongs to. The text is read once, hashed, and exactly that string is what is
// compiled, so nothing that is swapped or patched between the two can matter. Beside that an extension gets the host's single
// copies of the shared libraries and an allow list of built-in modules.
//
// Everything here runs with the captured primordials only; see primordials.mjs.
import {
  defineProperty, fileURLToPath, freeze, getBuiltinModule, objectKeys, parseJson, pathToFileURL, readFileSync, registerModuleHooks,
  sha256Hex, stringCharCodeAt, stringEndsWith, stringIndexOf, stringLastIndexOf, stringSlice, stringStartsWith, stripTypes,
} from './primordials.mjs'
import { ModuleError } from './errors.mjs'

const SHARED_SCHEME = 'codewhale:'
const SHARED_KEY = Symbol.for('codewhale.shared')

/* Built-in modules that only compute, or whose effects the sandbox bounds. What can start native code, a process, a thread, a
 * debugger or a second realm is not here, and neither is what a future runtime may add. */
const BUILTINS = { __proto__: null }
for (const name of [
  'assert', 'assert/strict', 'async_hooks', 'buffer', 'console', 'constants', 'crypto', 'diagnostics_channel', 'dns', 'dns/promises',
  'events', 'fs', 'fs/promises', 'http', 'https', 'module', 'net', 'os', 'path', 'path/posix', 'path/win32', 'perf_hooks', 'process',
  'punycode', 'querystring', 'readline', 'readline/promises', 'stream', 'stream/consumers', 'stream/promises', 'stream/web',
  'string_decoder', 'timers', 'timers/promises', 'tls', 'tty', 'url', 'util', 'util/types', 'zlib',
]) BUILTINS[name] = true

/* builtinName('node:fs') is 'fs'; undefined when @specifier names no built-in module of this runtime, allowed or not */
let isBuiltin
export function builtinName(specifier) {
  if (stringStartsWith(specifier, 'node:')) return stringSlice(specifier, 5)
  isBuiltin ??= getBuiltinModule('node:module').isBuiltin
  return BUILTINS[specifier] === true || isBuiltin(specifier) ? specifier : undefined
}

export const isAllowedBuiltin = name => BUILTINS[name] === true

export function refuseBuiltin(name) {
  return new ModuleError('EXT_MODULE_REFUSED', `the built-in module ${name} is not available to extensions`)
}

const roots = { __proto__: null, length: 0 } /* 0..: {prefix: '/plugin/', files: {path: {sha256, erased}}} */
const shared = { __proto__: null } /* specifier -> key in the shared record */
const sharedModules = { __proto__: null } /* key -> the names of its exports */
const compiled = { __proto__: null } /* absolute path of a CommonJS file -> the admitted text */
const entries = { __proto__: null } /* absolute path -> true: an entry is an ES module whatever package.json says */
let expected = null /* the one URL that the host itself is importing now */
let handed = null /* the module that the runtime got last: {relative, source} */

function rootOfPath(path) {
  for (let i = 0; i < roots.length; i++) if (stringStartsWith(path, roots[i].prefix)) return roots[i]
  return undefined
}

function pathOfUrl(url) {
  if (typeof url !== 'string' || !stringStartsWith(url, 'file:')) return undefined
  try {
    return fileURLToPath(url)
  } catch {
    return undefined
  }
}

function rowOf(root, path) {
  return root.files[stringSlice(path, root.prefix.length)]
}

/* addRoot(): what the core reviewed below @path. A root that is known already keeps its rows: a module that was loaded stays
 * loaded for the life of the process, so other bytes under the same name need another process. */
export function addRoot(path, files) {
  const prefix = stringEndsWith(path, '/') ? path : `${path}/`
  let root
  for (let i = 0; i < roots.length; i++) {
    if (roots[i].prefix === prefix) root = roots[i]
    else if (stringStartsWith(roots[i].prefix, prefix) || stringStartsWith(prefix, roots[i].prefix))
      throw new ModuleError('EXT_ROOT_OVERLAP', `${path} overlaps another extension's root`)
  }
  const names = objectKeys(files)
  if (root) {
    for (let i = 0; i < names.length; i++) {
      const known = root.files[names[i]]
      if (known !== undefined && known.sha256 !== files[names[i]].sha256)
        throw new ModuleError('EXT_ROOT_CHANGED', `${names[i]} has another hash than when this host admitted ${path}`)
    }
  } else {
    root = { __proto__: null, prefix, files: { __proto__: null } }
    roots[roots.length++] = root
  }
  for (let i = 0; i < names.length; i++) {
    const { sha256, erased } = files[names[i]]
    const row = { __proto__: null, sha256, erased: null }
    if (erased) row.erased = freeze({ __proto__: null, path: erased.path, sha256: erased.sha256 })
    root.files[names[i]] ??= freeze(row)
  }
}

/* readReviewed(root, path): the text of an admitted file, or a ModuleError */
function readText(root, relative, sha256) {
  let text
  try {
    text = readFileSync(root.prefix + relative, 'utf8')
  } catch (error) {
    throw new ModuleError('EXT_MODULE_UNREADABLE', `${relative} cannot be read: ${error.code ?? error.message}`)
  }
  if (sha256Hex(text) !== sha256) throw new ModuleError('EXT_MODULE_CHANGED', `${relative} changed after review`)
  return text
}

/* checkEntry(): the entry is in the inventory and its bytes are the reviewed ones. Returns the URL to import. */
export function checkEntry(rootPath, entry) {
  const prefix = stringEndsWith(rootPath, '/') ? rootPath : `${rootPath}/`
  const path = prefix + entry.path
  const root = rootOfPath(path)
  const row = root && rowOf(root, path)
  if (!row) throw new ModuleError('EXT_MODULE_UNREVIEWED', `${entry.path} is not in the reviewed list of files`)
  if (row.sha256 !== entry.sha256) throw new ModuleError('EXT_MODULE_CHANGED', `${entry.path} changed after review`)
  if (!stringEndsWith(path, '.mjs') && !stringEndsWith(path, '.js') && !stringEndsWith(path, '.mts'))
    throw new ModuleError('EXT_MODULE_FORMAT', `${entry.path} is no entry: .mjs, .js and .mts are`)
  readText(root, entry.path, entry.sha256)
  entries[path] = true
  return pathToFileURL(path).href
}

/* importEntry(): lets exactly this URL through once, in the host's own name */
export async function importEntry(url) {
  expected = url
  try {
    return await import(url)
  } catch (error) {
    throw error instanceof SyntaxError ? located(error) : error
  } finally {
    if (expected === url) expected = null
    handed = null
  }
}

/* The runtime does not tell where a module cannot be parsed. It parses each right after it got it, and what erases types tells. */
function located(error) {
  if (handed === null) return error
  try {
    stripTypeScript(handed.source)
  } catch (found) {
    if (found.line > 0) return new SyntaxError(`${error.message} (${handed.relative}, line ${found.line})`)
  }
  return error
}

/* shareModule(): @specifiers resolve to one synthetic module that re-exports @namespace */
export function shareModule(key, specifiers, namespace) {
  for (const specifier of specifiers) shared[specifier] = key
  sharedModules[key] = freeze({ __proto__: null, ...namespace })
}

/* The record is reachable for everyone, as its contents are; nobody can replace it. */
export function publishShared() {
  defineProperty(globalThis, SHARED_KEY, { value: freeze(sharedModules), enumerable: false, writable: false, configurable: false })
}

function sharedSource(key) {
  const names = objectKeys(sharedModules[key])
  let text = `const from = globalThis[Symbol.for('codewhale.shared')]['${key}']\n`
  for (let i = 0; i < names.length; i++)
    text += names[i] === 'default' ? 'export default from.default\n' : `export const ${names[i]} = from.${names[i]}\n`
  return `${text}export { from as 'module.exports' }\n`
}

function resolveHook(specifier, context, nextResolve) {
  const { parentURL } = context
  if (expected !== null && specifier === expected && rootOfPath(pathOfUrl(parentURL) ?? '') === undefined) {
    expected = null
    return { __proto__: null, url: specifier, format: 'module', shortCircuit: true }
  }
  const parent = pathOfUrl(parentURL)
  const root = parent === undefined ? undefined : rootOfPath(parent)
  if (root === undefined)
    throw new ModuleError('EXT_MODULE_REFUSED', `${specifier} is not available here: the importing module is not a reviewed one`)
  if (shared[specifier] !== undefined)
    return { __proto__: null, url: SHARED_SCHEME + shared[specifier], format: 'module', shortCircuit: true }
  const builtin = builtinName(specifier)
  if (builtin !== undefined) {
    if (BUILTINS[builtin] !== true) throw refuseBuiltin(builtin)
    return { __proto__: null, url: `node:${builtin}`, format: 'builtin', shortCircuit: true }
  }
  return resolveFile(root, specifier, findFile(specifier, context, nextResolve))
}

function findFile(specifier, context, nextResolve) {
  try {
    return nextResolve(specifier, context)
  } catch (error) {
    throw new ModuleError('EXT_MODULE_NOT_FOUND', `${specifier} is not in the reviewed bundle and not provided by this host: ${error.message}`)
  }
}

/* The format must be said here: without it require() takes a .json file for JavaScript. */
function resolveFile(root, specifier, found) {
  const path = pathOfUrl(found.url)
  if (path === undefined || !stringStartsWith(path, root.prefix))
    throw new ModuleError('EXT_MODULE_REFUSED', `${specifier} is not inside the reviewed bundle`)
  const relative = stringSlice(path, root.prefix.length)
  if (rowOf(root, path) === undefined)
    throw new ModuleError('EXT_MODULE_UNREVIEWED', `${relative} is not in the reviewed list of files`)
  const format = formatOf(root, path, relative)
  return { __proto__: null, url: found.url, format, importAttributes: found.importAttributes, shortCircuit: true }
}

/* The nearest reviewed package.json above @relative: 'module', 'commonjs', or null when there is none or it does not say */
function packageType(root, relative) {
  for (let end = stringLastIndexOf(relative, '/'); ; end = stringLastIndexOf(relative, '/', end - 1)) {
    const name = end < 0 ? 'package.json' : `${stringSlice(relative, 0, end)}/package.json`
    const row = root.files[name]
    if (row !== undefined) {
      try {
        const { type } = { __proto__: null, ...parseJson(readText(root, name, row.sha256)) }
        return type === 'module' || type === 'commonjs' ? type : null
      } catch {
        return null
      }
    }
    if (end <= 0) return null
  }
}

/* A .js file that nobody declares is an ES module here, as entries are; inside node_modules it is CommonJS, as npm has it. */
function formatOf(root, path, relative) {
  if (stringEndsWith(path, '.mjs') || stringEndsWith(path, '.mts')) return 'module'
  if (stringEndsWith(path, '.cjs')) return 'commonjs'
  if (stringEndsWith(path, '.json')) return 'json'
  if (!stringEndsWith(path, '.js')) throw new ModuleError('EXT_MODULE_FORMAT', `${relative} is not a kind of file that can be imported`)
  if (entries[path] === true) return 'module'
  return packageType(root, relative) ?? (stringIndexOf(`/${relative}`, '/node_modules/') >= 0 ? 'commonjs' : 'module')
}

/* stripTypeScript(): the JavaScript in @text, or an Error with the runtime's reason (an enum cannot be erased, for example) */
export function stripTypeScript(text) {
  try {
    return stripTypes(text, { mode: 'strip' })
  } catch (error) {
    throw syntaxError(error)
  }
}

/* The line is only in the head of the stack: ":3\n...". */
function syntaxError(error) {
  const head = typeof error.stack === 'string' ? stringSlice(error.stack, 0, stringIndexOf(error.stack, '\n')) : ''
  const line = Number(stringSlice(head, stringLastIndexOf(head, ':') + 1))
  if (!(line > 0)) return error
  const found = new SyntaxError(`line ${line}: ${error.message}`)
  found.line = line
  return found
}

/* placeOf(): where in a bundle something was thrown, "native/main.mjs:3:7"; undefined when @stack does not tell */
export function placeOf(stack) {
  for (let i = 0; i < roots.length; i++) {
    const mark = `file://${roots[i].prefix}`
    const at = stringIndexOf(stack, mark)
    if (at < 0) continue
    let end = at + mark.length
    while (end < stack.length && stringIndexOf(' ()\n', stack[end]) < 0) end++
    return stringSlice(stack, at + mark.length, end)
  }
  return undefined
}

function loadTypeScript(root, relative, row) {
  const text = readText(root, relative, row.sha256)
  if (row.erased !== null) return readText(root, row.erased.path, row.erased.sha256)
  try {
    return stripTypeScript(text)
  } catch (error) {
    throw new ModuleError('EXT_MODULE_SYNTAX', `${relative} needs more than erasing its types: ${error.message}`)
  }
}

function loadHook(url, context, nextLoad) {
  if (stringStartsWith(url, SHARED_SCHEME))
    return { __proto__: null, format: 'module', source: sharedSource(stringSlice(url, SHARED_SCHEME.length)), shortCircuit: true }
  if (stringStartsWith(url, 'node:') && BUILTINS[stringSlice(url, 5)] === true) return nextLoad(url, context)
  const path = pathOfUrl(url)
  const root = path === undefined ? undefined : rootOfPath(path)
  const row = root && rowOf(root, path)
  if (!row) throw new ModuleError('EXT_MODULE_UNREVIEWED', `${url} is not in the reviewed list of files`)
  const relative = stringSlice(path, root.prefix.length)
  const format = formatOf(root, path, relative)
  const source = stringEndsWith(path, '.mts') ? loadTypeScript(root, relative, row) : readText(root, relative, row.sha256)
  if (format === 'commonjs') compiled[path] = source
  handed = { __proto__: null, relative, source }
  return { __proto__: null, format, source, shortCircuit: true }
}

/* isCompilable(): true for the text of a CommonJS file that was admitted, with or without its byte order mark */
export function isCompilable(path, text) {
  if (typeof path !== 'string' || typeof text !== 'string') return false
  const admitted = compiled[path]
  if (admitted === undefined) return false
  return admitted === text || (stringCharCodeAt(admitted, 0) === 0xfeff && stringSlice(admitted, 1) === text)
}

/* From here on nothing is loaded but by the rule above. The hooks that are registered last run first, so the lock takes
 * registerHooks() away right after this. */
export function startAdmission() {
  registerModuleHooks({ resolve: resolveHook, load: loadHook })
}
