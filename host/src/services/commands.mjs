// SPDX-License-Identifier: MIT
//
// ctx.commands (contract 4.2)
import { objectText, quote, utf8Length } from '../json.mjs'
import { checkFunction, checkKeys, checkText, propose } from '../registration.mjs'
import { RegistrationError } from '../errors.mjs'
import { frozenService } from '../cordis.mjs'
import { freeze } from '../primordials.mjs'
import { CODE, RESULT_BYTES_MAX } from '../limits.mjs'
import { RpcError, isObject } from '../rpc.mjs'
import { callLabels } from './call.mjs'

const KEYS = ['name', 'description', 'argumentHint', 'input', 'attachments', 'handler']
const RESULTS = { __proto__: null, success: ['kind', 'text'], error: ['kind', 'text'], submit: ['kind', 'prompt', 'text'] }
const NEEDED = { __proto__: null, success: [], error: ['text'], submit: ['prompt'] }

function malformed(why) {
  return new RpcError(CODE.ExecutionFailed, `the command's result ${why}`)
}

/* commandResultText(): a text, nothing, or one of the three kinds; anything else is a mistake of the extension. */
export function commandResultText(value) {
  if (value === undefined || value === null) return '{"kind":"success"}'
  const result = typeof value === 'string' ? { kind: 'success', text: value } : value
  if (!isObject(result)) throw malformed('is neither a text nor an object')
  const known = typeof result.kind === 'string' ? RESULTS[result.kind] : undefined
  if (known === undefined) throw malformed('is of an unknown kind')
  for (const key of Object.keys(result)) if (!known.includes(key)) throw malformed(`has the unknown member ${key}`)
  const members = [['kind', quote(result.kind)]]
  for (const key of known.slice(1)) {
    const member = result[key]
    if (member === undefined && !NEEDED[result.kind].includes(key)) continue
    if (typeof member !== 'string') throw malformed(`has no ${key}`)
    members.push([key, quote(member)])
  }
  const text = objectText(members)
  if (utf8Length(text) > RESULT_BYTES_MAX) throw malformed(`is larger than ${RESULT_BYTES_MAX} bytes`)
  return text
}

async function runCommand(handler, registration, params, signal) {
  const { command_id: commandId, raw_input: raw } = params
  const args = raw.trim()
  const input = { signal, commandId, args, rawInput: args === '' ? '' : ` ${args}`, attachments: freeze([]) }
  return commandResultText(await handler(freeze({ ...input, ...callLabels(registration.entry, params) })))
}

export const commands = frozenService({
  register(command) {
    checkKeys('commands.register', command, KEYS)
    const { name, description, handler, attachments, input } = command
    const hint = command.argumentHint ?? input?.hint
    checkFunction('the handler of a command', handler)
    if (attachments !== undefined && attachments !== false) throw new RegistrationError('a command gets no attachments here')
    const spec = [
      ['name', checkText('the name of a command', name)],
      ['description', checkText('the description of a command', description)],
      ['argument_hint', hint === undefined ? undefined : checkText('the hint of a command', hint)],
    ]
    return propose(this.ctx, 'command', name, spec, (...args) => runCommand(handler.bind(command), ...args))
  },
})
