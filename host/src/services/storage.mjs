// SPDX-License-Identifier: MIT
//
// ctx.storage (contract 4.4). The records are the core's: it keeps quotas and writes. Here are the checks that need the value
// itself, and the liveness: storage ends when cleanup begins.
import { CODE, STORAGE_KEY_BYTES_MAX, STORAGE_VALUE_BYTES_MAX } from '../limits.mjs'
import { NotJsonError, encodeJson, objectText, quote, utf8Length } from '../json.mjs'
import { ProtocolError, RpcError, isObject } from '../rpc.mjs'
import { RegistrationError, StorageError } from '../errors.mjs'
import { liveEntry } from '../registration.mjs'
import { frozenService } from '../cordis.mjs'

const CODES = {
  __proto__: null,
  [CODE.NotAvailable]: 'not_available', [CODE.Cancelled]: 'not_available', [CODE.InvalidParams]: 'invalid',
  [CODE.StorageLimit]: 'limit', [CODE.StorageCorrupt]: 'corrupt',
}

function entryOf(ctx) {
  try {
    return liveEntry(ctx)
  } catch (error) {
    throw error instanceof RegistrationError ? new StorageError('not_available', `storage is not available: ${error.message}`) : error
  }
}

function keyText(key) {
  if (typeof key !== 'string' || key === '' || key.includes('\0') || !key.isWellFormed())
    throw new StorageError('invalid', 'a key is a text that is not empty and has no NUL')
  if (utf8Length(key) > STORAGE_KEY_BYTES_MAX) throw new StorageError('invalid', `a key has at most ${STORAGE_KEY_BYTES_MAX} bytes`)
  return quote(key)
}

function valueText(value) {
  let text
  try {
    text = encodeJson(value, { strict: true })
  } catch (error) {
    throw error instanceof NotJsonError ? new StorageError('invalid', error.message) : error
  }
  if (utf8Length(text) > STORAGE_VALUE_BYTES_MAX) throw new StorageError('limit', `a value has at most ${STORAGE_VALUE_BYTES_MAX} bytes`)
  return text
}

/* A version stands for one text of a record; undefined for that there is none. The core's own words for it are decimal numbers. */
function versionText(version) {
  if (version === undefined) return '"0"'
  if (typeof version !== 'string' || !/^[1-9][0-9]{0,19}$/.test(version))
    throw new StorageError('invalid', 'a version is what getVersioned() or compareAndSet() gave, or undefined')
  return quote(version)
}

async function ask(entry, method, members) {
  try {
    const answer = await entry.host.channel.request(method, objectText([['owner', entry.owner.text], ...members]))
    if (isObject(answer)) return answer
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    const failure = new StorageError(CODES[error.code] ?? 'io', error.message)
    if (error.code === CODE.StorageStale) failure.stale = true
    throw failure
  }
  return entry.host.violate(new ProtocolError(`${method} was answered with nonsense`))
}

export const storage = frozenService({
  async get(key) {
    const entry = entryOf(this.ctx)
    const { found, value } = await ask(entry, 'storage/get', [['key', keyText(key)]])
    return found === true ? value : undefined
  },
  async set(key, value) {
    const entry = entryOf(this.ctx)
    await ask(entry, 'storage/set', [['key', keyText(key)], ['value', valueText(value)]])
  },
  async getVersioned(key) {
    const entry = entryOf(this.ctx)
    const { found, value, version } = await ask(entry, 'storage/get', [['key', keyText(key)]])
    return found === true ? { value, version } : undefined
  },
  async compareAndSet(key, version, value) {
    const entry = entryOf(this.ctx)
    const members = [['key', keyText(key)], ['value', valueText(value)], ['if_version', versionText(version)]]
    try {
      return (await ask(entry, 'storage/set', members)).version
    } catch (error) {
      if (error.stale === true) return undefined
      throw error
    }
  },
  async delete(key) {
    const entry = entryOf(this.ctx)
    const { deleted } = await ask(entry, 'storage/delete', [['key', keyText(key)]])
    return deleted === true
  },
})
