// SPDX-License-Identifier: MIT
//
// The framing of the channel (contract 3.15): "CWX1", the payload's length as 32-bit little endian, the payload in UTF-8.
import { bufferAlloc, bufferByteLength } from './primordials.mjs'

const HEADER_BYTES = 8
const MAGIC = 0x31585743 /* "CWX1" read as little endian */

export class FrameError extends Error {
  constructor(message) {
    super(message)
    this.name = 'FrameError'
  }
}

/* One frame around @text, or a FrameError when it is larger than @limit. */
export function encodeFrame(text, limit) {
  const length = bufferByteLength(text, 'utf8')
  if (length > limit) throw new FrameError(`a frame of ${length} bytes is larger than ${limit}`)
  const frame = bufferAlloc(HEADER_BYTES + length)
  frame.writeUInt32LE(MAGIC, 0)
  frame.writeUInt32LE(length, 4)
  frame.write(text, HEADER_BYTES, length, 'utf8')
  return frame
}

/* Cuts a stream of bytes into payloads. A length above @limit is refused before anything is allocated for it. */
export class FrameReader {
  constructor(limit, onPayload) {
    this.limit = limit
    this.onPayload = onPayload
    this.header = bufferAlloc(HEADER_BYTES)
    this.headerFilled = 0
    this.payload = null
    this.payloadFilled = 0
  }

  /* between(): true when the stream may end here */
  between() {
    return this.headerFilled === 0 && this.payload === null
  }

  push(chunk) {
    let at = 0
    while (at < chunk.length) at += this.payload === null ? this.pushHeader(chunk, at) : this.pushPayload(chunk, at)
  }

  pushHeader(chunk, at) {
    const taken = chunk.copy(this.header, this.headerFilled, at, at + HEADER_BYTES - this.headerFilled)
    this.headerFilled += taken
    if (this.headerFilled === HEADER_BYTES) {
      if (this.header.readUInt32LE(0) !== MAGIC) throw new FrameError('a frame does not begin with CWX1')
      const length = this.header.readUInt32LE(4)
      if (length > this.limit) throw new FrameError(`a frame declares ${length} bytes, more than ${this.limit}`)
      this.headerFilled = 0
      this.payload = bufferAlloc(length)
      this.payloadFilled = 0
      if (length === 0) this.finish()
    }
    return taken
  }

  pushPayload(chunk, at) {
    const taken = chunk.copy(this.payload, this.payloadFilled, at)
    this.payloadFilled += taken
    if (this.payloadFilled === this.payload.length) this.finish()
    return taken
  }

  finish() {
    const payload = this.payload
    this.payload = null
    this.onPayload(payload)
  }
}
