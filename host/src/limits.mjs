// SPDX-License-Identifier: MIT
//
// The numbers that both ends of the channel keep (contract 3.10, 3.15, annex A). Sizes are bytes, times milliseconds.

export const PROTOCOL = 1
export const FRAME_BYTES_MAX = 33_554_432
export const IN_FLIGHT_MAX = 256
export const ACTIVATE_MS = 5_000
export const DISPOSE_MS = 2_000
export const CANCEL_GRACE_MS = 500

export const ERROR_BYTES_MAX = 4_096
export const FAULT_BYTES_MAX = 4_096
export const LOG_BYTES_MAX = 8_192
export const LOG_QUEUE_MAX = 1_024 /* lines that wait in the host because they are not read; more are counted */
export const JSON_DEPTH_MAX = 64
export const RESULT_BYTES_MAX = 8 * 1_048_576
export const SPEC_TEXT_BYTES_MAX = 1_048_576
export const FILES_MAX = 4_096

export const STORAGE_KEY_BYTES_MAX = 128
export const STORAGE_VALUE_BYTES_MAX = 131_072
export const REVISION_BYTES_MAX = 32_768
export const HOOK_TEXT_BYTES_MAX = 65_536
export const CORE_NAME_CHARS_MAX = 128

/* Exit codes of the host (contract 3.15) */
export const EXIT_OK = 0
export const EXIT_USAGE = 64
export const EXIT_PROTOCOL = 65
export const EXIT_LOCK = 70
export const EXIT_VERSION = 78

/* JSON-RPC error codes (contract 3.16 and this project's storage methods) */
export const CODE = {
  __proto__: null,
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  Internal: -32603,
  ExecutionFailed: -32000,
  NotAvailable: -32001,
  Refused: -32002,
  Denied: -32003,
  StorageLimit: -32010,
  StorageCorrupt: -32011,
  StorageIo: -32012,
  StorageStale: -32013,
  Cancelled: -32800,
}
