// SPDX-License-Identifier: MIT
//
// Types for authors of extensions: everything that a native entry is given. Only for the editor and the type checker, nothing of it
// exists at run time. codewhalectl new puts a copy into a bundle:
//
//   import type { Context } from '../types/extension.d.ts'                 in a .mts file
//   /** @param {import('../types/extension.d.ts').Context} ctx */          in a .mjs file

/** What travels as JSON: no undefined inside, no NaN, no Date, no class; at most 64 levels deep */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** Takes a registration back. May be called any number of times; the end of the extension does it by itself. */
export type Dispose = () => void | Promise<void>

/** What the core told about this very call. A member that it did not tell is not there. They identify, they permit nothing. */
export interface CallLabels {
  readonly workspace?: string
  /** A directory of this plugin, the working directory as well. It outlives restarts, updates and an uninstall. */
  readonly dataDir?: string
  readonly sessionId?: string
  readonly agentId?: string
  readonly originTurnId?: string
}

// ---- exec.core: tools of the core, while a tool of the extension runs ----

export interface CoreResult {
  readonly content: readonly { readonly type: 'text', readonly text: string }[]
  /** true when the tool ran and reported an error; that is not an exception */
  readonly isError: boolean
  readonly structured?: Json
}

/** Thrown by Core.call() */
export interface CoreCallError extends Error {
  readonly code:
    /** a rule, a limit, or a tool that extensions may not call */
    | 'refused'
    /** a person or the posture of the session said no */
    | 'denied'
    /** the call that it came with is over, or its own signal was aborted */
    | 'cancelled'
    /** the core is gone */
    | 'unavailable'
    | 'failed'
}

export interface Core {
  /**
   * Asks the core to run one of its own tools, under the rules of the session. Lives as long as the call that it came with: at
   * most 50 calls, 4 at a time. The clock of the tool stands still while a person is asked.
   */
  call(name: string, input?: JsonObject, options?: { signal?: AbortSignal }): Promise<CoreResult>
}

// ---- tools ----

export interface ToolCall<Input = JsonObject> extends CallLabels {
  /** Aborts when the call is cancelled, runs out of time, or the plugin is disabled. Pass it on. */
  readonly signal: AbortSignal
  readonly callId: string
  /** The same as the first argument of execute() */
  readonly args: Input
  /** Only when the core lets this very call ask for its tools */
  readonly core?: Core
}

export interface Tool<Input = any> {
  /** A letter, then letters, digits, _ and -; at most 64. Unique among all tools, whatever their case. */
  name: string
  /** For the model; at most 4 KiB */
  description: string
  /** JSON Schema of an object (2020-12 unless it says otherwise), at most 64 KiB. The service checks every input against it. */
  parameters: object
  /** Text, or JSON, which is kept as it is beside a text for the model. 120 s. A thrown error is the answer, too. */
  execute(input: Input, exec: ToolCall<Input>): Json | Promise<Json>
  /** For compatibility; nothing here lowers the approval that a call needs */
  output?: unknown
}

export interface Tools {
  /** At most 128 of one plugin */
  register<Input = any>(tool: Tool<Input>): Dispose
}

// ---- commands ----

export interface CommandCall extends CallLabels {
  readonly signal: AbortSignal
  readonly commandId: string
  /** What stands behind the name, trimmed */
  readonly args: string
  /** The same with one leading space when there is anything */
  readonly rawInput: string
  readonly attachments: readonly []
}

/** Text of at most 64 KiB, a prompt of at most 128 KiB */
export type CommandResult = void | null | string
  | { kind: 'success', text?: string }
  | { kind: 'error', text: string }
  /** Sends the prompt as the user's next message, for everyone to see */
  | { kind: 'submit', prompt: string, text?: string }

export interface Command {
  /** A lower-case letter, then a-z, 0-9, _ and -; at most 64. Not the name of a command that is there already. */
  name: string
  /** One line, at most 1 KiB */
  description: string
  /** Shown behind the name, at most 256 bytes; with it the command waits for arguments */
  argumentHint?: string
  /** People run commands, the model does not. 30 s. */
  handler(input: CommandCall): CommandResult | Promise<CommandResult>
}

export interface Commands {
  /** At most 64 of one plugin */
  register(command: Command): Dispose
}

// ---- prompt ----

export interface PromptSection {
  /** A lower-case letter, then a-z, 0-9, _ and -; at most 64 */
  id: string
  /** Not blank, at most 4 KiB; all of a plugin's at most 32 KiB */
  text: string
  /** With it, {{model}} and {{cwd}} are replaced once a turn */
  interpolate?: 'model-cwd'
}

export interface Prompt {
  registerSection(section: PromptSection): Dispose
}

// ---- storage ----

/** Thrown by the methods of Storage */
export interface StorageError extends Error {
  readonly code:
    /** the extension is ending */
    | 'not_available'
    /** no key, or no JSON */
    | 'invalid'
    | 'limit'
    /** the record on disk is damaged; it stays as it is until delete() */
    | 'corrupt'
    | 'io'
}

export interface Storage {
  /** undefined when there is no such record; a copy otherwise */
  get(key: string): Promise<Json | undefined>
  /** A value has at most 128 KiB, all of a plugin's at most 4 MiB under at most 1,024 keys of at most 128 bytes */
  set(key: string, value: Json): Promise<void>
  /** Whether there was one */
  delete(key: string): Promise<boolean>
  /** The value with a word that stands for exactly this text of it; for compareAndSet() */
  getVersioned(key: string): Promise<{ value: Json, version: string } | undefined>
  /**
   * Keeps a value only while the record still is the one of that version (undefined: while there is none). The new version, or
   * undefined when somebody else was faster: read again and try again.
   */
  compareAndSet(key: string, version: string | undefined, value: Json): Promise<string | undefined>
}

// ---- skills, and two kinds of definitions that this version refuses ----

export interface Skills {
  /** A folder of the bundle whose sub-folders have a SKILL.md each; at most 8 roots of one plugin, and 128 skills,
   * those included that its manifest declares. A file that is both is one skill. */
  registerRoot(root: { path: string }): Dispose
}

export interface Mcp {
  /** Refused: declare servers in the bundle's mcp.json */
  registerServer(definition: { serverName: string, server: JsonObject }): Dispose
}

export interface ShellHooks {
  /** Refused: programs never run as hooks; listen with ctx.on('tools/pre-execute') */
  register(definition: { dialect: 'claude-code' | 'codex', point: string, matcher?: string, hook: JsonObject }): Dispose
}

// ---- events ----

export interface PreExecute {
  /** The tool that is about to run, whoever offers it */
  readonly name: string
  readonly callId: string
  readonly arguments: any
  readonly signal: AbortSignal
  readonly workspace?: string
  readonly mode?: string
  readonly model?: string
}

/** All listeners of a call together have 5 s. One that throws, or answers with something else, denies the call. */
export type Verdict = void | null
  | { kind: 'abstain' }
  | { kind: 'deny', reason: string }
  | { kind: 'ask', reason?: string }
  /** At most 32 KiB; the call is judged again with it */
  | { kind: 'revise', input: JsonObject }
  | { kind: 'annotate', text: string }

export type PreExecuteListener = (call: PreExecute, next: () => Verdict) => Verdict | Promise<Verdict>

// ---- logger ----

/** Goes to the journal, under the plugin's name: codewhalectl log NAME. Warnings and errors are shown by codewhalectl show, too. */
export interface Logger {
  debug(format: unknown, ...values: unknown[]): void
  info(format: unknown, ...values: unknown[]): void
  success(format: unknown, ...values: unknown[]): void
  warn(format: unknown, ...values: unknown[]): void
  error(format: unknown, ...values: unknown[]): void
}

// ---- the whole ----

/**
 * What apply() gets. A service is there when inject names it. Whatever is registered belongs to this extension and ends with it.
 */
export interface Context {
  /** With inject: ['tools'] */
  readonly tools: Tools
  /** With inject: ['commands'] */
  readonly commands: Commands
  /** With inject: ['prompt'] */
  readonly prompt: Prompt
  /** With inject: ['storage'] */
  readonly storage: Storage
  /** With inject: ['skills'] */
  readonly skills: Skills
  /** With inject: ['mcp'] */
  readonly mcp: Mcp
  /** With inject: ['shellHooks'] */
  readonly shellHooks: ShellHooks
  readonly logger: Logger & ((name?: string) => Logger)
  /** Asked before any tool runs. next() means "no opinion"; nothing can be approved here. */
  on(event: 'tools/pre-execute', listener: PreExecuteListener): Dispose
  /** Further cleanup: the function that @run returns is called, and awaited for at most 2 s, when the extension ends */
  effect(run: () => Dispose, label?: string): Dispose
}

export type ServiceName =
  | 'tools' | 'commands' | 'prompt' | 'storage' | 'skills' | 'mcp' | 'shellHooks' | 'logger' | 'events' | 'reflect' | 'registry'

/** A schema for the settings: any library with the Standard Schema interface. The host has schemastery. */
export interface ConfigSchema {
  readonly '~standard': { readonly version: 1, readonly vendor: string, readonly validate: (value: unknown) => any }
}

/** What a native entry exports, by names or as its default export */
export interface Extension<Config = any> {
  readonly name?: string
  /** The services that it uses. One that the host does not have fails the activation and is named. */
  readonly inject?: readonly string[]
  /** Checks [plugins."NAME".config] of config.toml, and fills in what is not there */
  readonly Config?: ConfigSchema
  /** Once for each activation; at most 5 s. What it returns is called at the end. */
  apply(ctx: Context, config: Config): void | Dispose | Promise<void | Dispose>
}
