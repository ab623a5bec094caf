// SPDX-License-Identifier: MIT
//
// ctx.on('tools/pre-execute', listener) (contract 4.8). Each listener is one handle of the core, which asks them in its own order
// and folds what they say; next() only means "no opinion".
import { CODE, HOOK_TEXT_BYTES_MAX, REVISION_BYTES_MAX } from '../limits.mjs'
import { NotJsonError, boundText, encodeJson, objectText, quote, utf8Length } from '../json.mjs'
import { checkFunction, propose } from '../registration.mjs'
import { RpcError, isObject } from '../rpc.mjs'
import { ENTRY } from '../owner.mjs'
import { RefusedError } from '../errors.mjs'
import { freeze, isFrozen } from '../primordials.mjs'

const EVENT = 'tools/pre-execute'
const ABSTAIN = freeze({ kind: 'abstain' })
const MEMBERS = { __proto__: null, abstain: [], deny: ['reason'], ask: ['reason'], revise: ['input'], annotate: ['text'] }

function freezeDeep(value) {
  if (typeof value !== 'object' || value === null || isFrozen(value)) return value
  freeze(value)
  for (const key of Object.keys(value)) freezeDeep(value[key])
  return value
}

function malformed(why) {
  return new RpcError(CODE.ExecutionFailed, `the listener's answer ${why}`)
}

function revisionText(input) {
  if (!isObject(input)) throw malformed('revises the input with something that is not an object')
  let text
  try {
    text = encodeJson(input, { name: 'the revised input' })
  } catch (error) {
    throw error instanceof NotJsonError ? malformed(`is not JSON: ${error.message}`) : error
  }
  if (utf8Length(text) > REVISION_BYTES_MAX) throw malformed(`revises the input with more than ${REVISION_BYTES_MAX} bytes`)
  return text
}

function sentence(verdict, key, needed) {
  const value = verdict[key]
  if (value === undefined && !needed) return undefined
  if (typeof value !== 'string') throw malformed(`has no ${key}`)
  return quote(boundText(value, HOOK_TEXT_BYTES_MAX))
}

/* verdictText(): strict, because a verdict that was misspelt must not become "no opinion" */
export function verdictText(answer, owner) {
  if (answer === undefined || answer === null) return '{"kind":"abstain"}'
  if (!isObject(answer)) throw malformed('is not a verdict')
  const { kind } = answer
  if (kind === 'allow') {
    owner.noticeAllow()
    return '{"kind":"abstain"}'
  }
  const members = typeof kind === 'string' ? MEMBERS[kind] : undefined
  if (members === undefined) throw malformed('is of an unknown kind')
  for (const key of Object.keys(answer)) if (key !== 'kind' && !members.includes(key)) throw malformed(`has the unknown member ${key}`)
  switch (kind) {
    case 'deny': return objectText([['kind', '"deny"'], ['reason', sentence(answer, 'reason', true)]])
    case 'ask': return objectText([['kind', '"ask"'], ['reason', sentence(answer, 'reason', false)]])
    case 'annotate': return objectText([['kind', '"annotate"'], ['text', sentence(answer, 'text', true)]])
    case 'revise': return objectText([['kind', '"revise"'], ['input', revisionText(answer.input)]])
    default: return '{"kind":"abstain"}'
  }
}

async function runListener(listener, registration, params, signal) {
  const { name, call_id: callId, input, mode, workspace, model } = params.payload
  const view = { name, callId, arguments: freezeDeep(input), signal }
  if (workspace !== undefined) view.workspace = workspace
  if (mode !== undefined) view.mode = mode
  if (model !== undefined) view.model = model
  return verdictText(await listener(freeze(view), () => ABSTAIN), registration.entry.owner)
}

/* onPreExecute(): what ctx.on() does for the one event of the host. @options is what Cordis made of the third argument. */
export function onPreExecute(ctx, listener, options) {
  checkFunction(`the listener of ${EVENT}`, listener)
  if (options?.prepend || options?.global) throw new RefusedError(`${EVENT} takes no prepend or global option`)
  /* What a denial names: the function, or the plugin when it is an arrow function without a name */
  const label = boundText(listener.name || ctx[ENTRY]?.owner.pluginName || 'listener', 128)
  return propose(ctx, 'hook', EVENT, [['name', quote(EVENT)], ['description', quote(label)]], (...args) => runListener(listener, ...args))
}
