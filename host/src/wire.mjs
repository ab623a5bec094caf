// SPDX-License-Identifier: MIT
//
// The methods that the core sends and the shape of their params (contract 3.17 and this project's additions). Members that are
// not listed are ignored, so that a newer core can tell an older host more; a listed one of a wrong type is InvalidParams.
import { CODE, FILES_MAX } from './limits.mjs'
import { hasOwn, isSafeInteger, objectKeys } from './primordials.mjs'
import { RpcError, isObject } from './rpc.mjs'

const HEX = /^[0-9a-f]{64}$/

const string = value => typeof value === 'string'
const text = value => typeof value === 'string' && value !== ''
const count = value => isSafeInteger(value) && value >= 0
const handle = value => isSafeInteger(value) && value >= 1
const digest = value => typeof value === 'string' && HEX.test(value)
const any = () => true
const optional = check => ({ optional: true, check })

/* A path below a root: no empty, "." or ".." part, nothing absolute */
export function isRelativePath(value) {
  if (!text(value) || value.includes('\0') || value.includes('\\')) return false
  return value.split('/').every(part => part !== '' && part !== '.' && part !== '..')
}

const shape = members => value => {
  if (!isObject(value)) return false
  const names = objectKeys(members)
  for (let i = 0; i < names.length; i++) {
    const member = members[names[i]]
    const present = hasOwn(value, names[i])
    if (typeof member === 'function' ? !present || !member(value[names[i]]) : present && !member.check(value[names[i]])) return false
  }
  return true
}

const owner = shape({ plugin_id: text, generation: count, owner_token: text })
const file = shape({ path: isRelativePath, sha256: digest })
const inventoryRow = shape({ sha256: digest, erased: optional(file) })

function files(value) {
  if (!isObject(value)) return false
  const paths = objectKeys(value)
  return paths.length <= FILES_MAX && paths.every(path => isRelativePath(path) && inventoryRow(value[path]))
}

const labels = {
  workspace: optional(string), data_dir: optional(text), session_id: optional(string), agent_id: optional(string),
  origin_turn_id: optional(string),
}

const PARAMS = {
  __proto__: null,
  'host/initialize': {
    protocol: count,
    limits: shape({ max_frame: handle, max_inflight: handle, dispose_deadline_ms: handle, activate_deadline_ms: handle }),
  },
  'host/ping': {},
  'host/shutdown': {},
  'ext/activate': {
    owner, scope: optional(file), plugin_name: text, entry: file, files, root: value => text(value) && value.startsWith('/'),
    config: isObject, data_dir: optional(text),
  },
  'ext/deactivate': { owner, entry: optional(file) },
  'tool/call': { handle, call_id: string, input: isObject, deadline_ms: count, ticket: optional(text), ...labels },
  'command/run': { handle, command_id: string, raw_input: string, deadline_ms: count, ...labels },
  'hook/evaluate': {
    handle, event: text, deadline_ms: count,
    payload: shape({
      name: string, call_id: string, input: any, mode: optional(string), workspace: optional(string), model: optional(string),
    }),
  },
  'strip/module': { path: text, source: string },
  '$/cancel': { id: count },
}

const HOST = ['host/initialize', 'host/ping', 'host/shutdown']
const TIER_METHODS = {
  __proto__: null,
  plugin: [...HOST, 'ext/activate', 'ext/deactivate', 'tool/call', 'command/run', 'hook/evaluate'],
  strip: [...HOST, 'strip/module'],
}

export const TIERS = objectKeys(TIER_METHODS)

/* methodTable(tier): what decodeMessage() wants */
export function methodTable(tier) {
  const table = { __proto__: null, '$/cancel': 'notification' }
  for (const method of TIER_METHODS[tier]) table[method] = 'request'
  return table
}

/* checkParams(): throws InvalidParams that names the member. A scope that is not the entry is one of the mismatches (A05). */
export function checkParams(method, params) {
  const members = PARAMS[method]
  for (const name of objectKeys(members)) {
    const member = members[name]
    const present = hasOwn(params, name)
    if (typeof member === 'function' ? !present : false) throw new RpcError(CODE.InvalidParams, `${method} needs ${name}`)
    const check = typeof member === 'function' ? member : member.check
    if (present && !check(params[name])) throw new RpcError(CODE.InvalidParams, `${method}: ${name} does not fit`)
  }
}
