// SPDX-License-Identifier: MIT
//
// Errors that an extension's author may meet. Their codes are part of the host's interface.

/* What the lock, the admission of modules and the reserved services throw: a door that stays shut */
export class RefusedError extends Error {
  constructor(message) {
    super(message)
    this.name = 'RefusedError'
    this.code = 'EXT_HOST_REFUSED'
  }
}

/* A module that may not be loaded, or whose bytes are not the reviewed ones */
export class ModuleError extends Error {
  constructor(code, message) {
    super(message)
    this.name = 'ModuleError'
    this.code = code
  }
}

/* ctx.storage; code is one of not_available, invalid, limit, corrupt, io (contract 4.4) */
export class StorageError extends Error {
  constructor(code, message) {
    super(message)
    this.name = 'StorageError'
    this.code = code
  }
}

/* exec.core.call(); code is one of refused, denied, cancelled, unavailable, failed (contract 6.2) */
export class CoreCallError extends Error {
  constructor(code, message) {
    super(message)
    this.name = 'CoreCallError'
    this.code = code
  }
}

/* A registration that came too late, or was not admitted by the core */
export class RegistrationError extends Error {
  constructor(message) {
    super(message)
    this.name = 'RegistrationError'
  }
}
