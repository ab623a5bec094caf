// SPDX-License-Identifier: MIT
//
// The core's side of the wire, for the tests: what a strict core takes from a host (contract 3.15 to 3.17, hello checks aside).
// checkHostMessage(message, tier) and checkCoreMessage(message) answer with a complaint, or undefined for a message in order.
// The rows W01 to W46 in tests/wire hold this file, the host's own reader and the C side to the same verdicts.

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = value => typeof value === 'string'
const isName = value => typeof value === 'string' && value !== ''
const isCount = value => Number.isSafeInteger(value) && value >= 0
const isHandle = value => Number.isSafeInteger(value) && value >= 1
const isDigest = value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isAny = () => true
const oneOf = (...words) => value => words.includes(value)
const maybe = check => Object.assign(value => check(value), { optional: true })
const listOf = check => value => Array.isArray(value) && value.every(check)

/* closed({a, b}): exactly these members, of these kinds */
const closed = members => value => {
  if (!isObject(value)) return false
  for (const key of Object.keys(value)) if (!Object.hasOwn(members, key)) return false
  return Object.entries(members).every(([key, check]) => Object.hasOwn(value, key) ? check(value[key]) : check.optional === true)
}

const owner = closed({ plugin_id: isName, generation: isCount, owner_token: isName })
const scope = closed({ path: isName, sha256: isDigest })
const content = listOf(closed({ type: oneOf('text'), text: isText }))
export const toolResult = closed({ content, is_error: value => typeof value === 'boolean', structured: maybe(isAny) })

const KINDS = {
  tool: closed({ name: isName, description: isText, input_schema: isObject }),
  command: closed({ name: isName, description: isText, argument_hint: maybe(isText) }),
}
const PLAIN = closed({ name: isName, description: isText })
for (const kind of ['hook', 'prompt_section', 'prompt_template', 'skill_root', 'shell_hook', 'mcp_server']) KINDS[kind] = PLAIN

function register(params) {
  return closed({ owner, scope: maybe(scope), kind: isName, spec: isObject })(params) && Object.hasOwn(KINDS, params.kind) && KINDS[params.kind](params.spec)
}

const hello = closed({
  protocol: closed({ min: isCount, max: isCount }), host_version: isText, bundle_sha256: isDigest,
  runtime: closed({ name: oneOf('node', 'bun'), version: isName }), tier: oneOf('plugin', 'strip'),
  builtin_modules: listOf(closed({ id: isName, sha256: isDigest })), verified_doors: maybe(listOf(isText)), memory_limit_mib: maybe(isCount),
})

/* method: [kind, tiers, params] */
const R = 'request'
const N = 'notification'
const PLUGIN = ['plugin']
const ALL = ['plugin', 'strip']
const HOST_METHODS = {
  'host/hello': [N, ALL, hello],
  'host/ready': [N, ALL, closed({})],
  'registry/register': [R, PLUGIN, register],
  'registry/unregister': [R, PLUGIN, closed({ owner, handle: isHandle })],
  'core/call': [R, PLUGIN, closed({ owner, ticket: isName, name: isName, input: isObject })],
  'ext/faulted': [N, PLUGIN, closed({ owner, error: isText })],
  log: [N, PLUGIN, closed({ level: isName, msg: isText, plugin_id: maybe(isText) })],
  'storage/get': [R, PLUGIN, closed({ owner, key: isName })],
  'storage/set': [R, PLUGIN, closed({ owner, key: isName, value: isAny, if_version: maybe(isText) })],
  'storage/delete': [R, PLUGIN, closed({ owner, key: isName })],
  '$/cancel': [N, ALL, closed({ id: isCount })],
}

export const HOST_METHOD_NAMES = Object.keys(HOST_METHODS)

function checkEnvelope(message) {
  if (!isObject(message)) return 'not an object'
  if (message.jsonrpc !== '2.0') return 'not JSON-RPC 2.0'
  for (const key of Object.keys(message))
    if (!['jsonrpc', 'id', 'method', 'params', 'result', 'error'].includes(key)) return `the unknown member ${key}`
  if (Object.hasOwn(message, 'id') && !isCount(message.id)) return 'an id that is not an unsigned integer'
  if (Object.hasOwn(message, 'params') && !isObject(message.params)) return 'params that are not an object'
  return undefined
}

const RESULTS = {
  'registry/register': value => closed({ handle: isHandle })(value) || closed({ refused: isText })(value),
  'command/run': value => closed({ kind: oneOf('success'), text: maybe(isText) })(value) || closed({ kind: oneOf('error'), text: isText })(value) ||
    closed({ kind: oneOf('submit'), prompt: isText, text: maybe(isText) })(value),
  'tool/call': toolResult,
  'core/call': toolResult,
  'ext/activate': value => closed({ status: oneOf('ok'), tools: listOf(isText), commands: listOf(isText) })(value) ||
    closed({ status: oneOf('failed'), diagnostic: isText })(value),
  'ext/deactivate': closed({ disposed: value => typeof value === 'boolean', leaked: listOf(isText) }),
}

/* @answers names the method that a response belongs to, when the caller knows */
export function checkResponse(message, answers) {
  if (!Object.hasOwn(message, 'id')) return 'a response without an id'
  if (Object.hasOwn(message, 'params')) return 'a response with params'
  if (Object.hasOwn(message, 'result') === Object.hasOwn(message, 'error')) return 'a response with both or neither of result and error'
  if (Object.hasOwn(message, 'error'))
    return closed({ code: Number.isSafeInteger, message: isText, data: maybe(isAny) })(message.error) ? undefined : 'a malformed error'
  return RESULTS[answers] === undefined || RESULTS[answers](message.result) ? undefined : `a result that does not fit ${answers}`
}

export function checkHostMessage(message, { tier = 'plugin', answers } = {}) {
  const complaint = checkEnvelope(message)
  if (complaint) return complaint
  if (!Object.hasOwn(message, 'method')) return checkResponse(message, answers)
  if (Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')) return 'a request with a result'
  if (!Object.hasOwn(HOST_METHODS, message.method)) return `the unknown method ${message.method}`
  const [kind, tiers, check] = HOST_METHODS[message.method]
  if ((kind === R) !== Object.hasOwn(message, 'id')) return `${message.method} is a ${kind}`
  if (message.method !== 'host/hello' && !tiers.includes(tier)) return `${message.method} on the ${tier} tier`
  return check(message.params ?? {}) ? undefined : `${message.method} with params that do not fit`
}
