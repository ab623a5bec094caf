// SPDX-License-Identifier: MIT
//
// Types for authors of extensions. Only for the editor and the type checker: nothing here exists at run time.
//
//   /// <reference path="…/host/types/index.d.ts" />
//   import type { Context, Tool } from '@codewhale/extension'

declare module '@codewhale/extension' {
  export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

  /** Takes a registration back. May be called any number of times. */
  export type Dispose = () => void | Promise<void>

  /** What the core told about this very call. A member that it did not tell is not there. */
  export interface CallLabels {
    readonly workspace?: string
    /** A directory of this plugin, the working directory as well. It outlives restarts and updates. */
    readonly dataDir?: string
    readonly sessionId?: string
    readonly agentId?: string
    readonly originTurnId?: string
  }

  export interface CoreResult {
    content: { type: 'text', text: string }[]
    /** true when the tool ran and reported an error; that is not an exception */
    isError: boolean
    structured?: Json
  }

  /** Thrown by Core.call() */
  export interface CoreCallError extends Error {
    code: 'refused' | 'denied' | 'cancelled' | 'unavailable' | 'failed'
  }

  export interface Core {
    /** Asks the core to run one of its own tools, under the rules of the session. Lives as long as the call that it came with. */
    call(name: string, input?: { [key: string]: Json }, options?: { signal?: AbortSignal }): Promise<CoreResult>
  }

  export interface ToolCall<Input> extends CallLabels {
    /** Aborts when the call is cancelled, runs out of time, or the plugin is disabled */
    readonly signal: AbortSignal
    readonly callId: string
    readonly args: Input
    readonly core?: Core
  }

  export interface Tool<Input = any> {
    /** A letter, then letters, digits, _ and -; at most 64. Unique among all tools, whatever their case. */
    name: string
    /** For the model; at most 4 KiB */
    description: string
    /** JSON Schema of an object, at most 64 KiB. The service checks every input against it. */
    parameters: object
    /** Text, or JSON, which is kept as it is beside a text for the model */
    execute(input: Input, exec: ToolCall<Input>): Json | Promise<Json>
    output?: unknown
  }

  export interface CommandCall extends CallLabels {
    readonly signal: AbortSignal
    readonly commandId: string
    /** What stands behind the name, trimmed */
    readonly args: string
    /** The same with one leading space when there is anything */
    readonly rawInput: string
    readonly attachments: readonly []
  }

  export type CommandResult = void | null | string
    | { kind: 'success', text?: string }
    | { kind: 'error', text: string }
    /** Sends the prompt as the user's next message, for everyone to see */
    | { kind: 'submit', prompt: string, text?: string }

  export interface Command {
    /** A lower-case letter, then a-z, 0-9, _ and -; at most 64 */
    name: string
    /** One line, at most 1 KiB */
    description: string
    /** Shown behind the name, at most 256 bytes */
    argumentHint?: string
    handler(input: CommandCall): CommandResult | Promise<CommandResult>
  }

  export interface PromptSection {
    /** A lower-case letter, then a-z, 0-9, _ and -; at most 64 */
    id: string
    /** At most 4 KiB */
    text: string
    /** With it, {{model}} and {{cwd}} are replaced once a turn */
    interpolate?: 'model-cwd'
  }

  export interface StorageError extends Error {
    code: 'not_available' | 'invalid' | 'limit' | 'corrupt' | 'io'
  }

  export interface Storage {
    /** undefined when there is no such record; a copy otherwise */
    get(key: string): Promise<Json | undefined>
    /** A value has at most 128 KiB, all of a plugin's at most 4 MiB under at most 1,024 keys of at most 128 bytes */
    set(key: string, value: Json): Promise<void>
    delete(key: string): Promise<boolean>
  }

  export interface PreExecute {
    readonly name: string
    readonly callId: string
    readonly arguments: any
    readonly signal: AbortSignal
    readonly workspace?: string
    readonly mode?: string
    readonly model?: string
  }

  export type Verdict = void | null
    | { kind: 'abstain' }
    | { kind: 'deny', reason: string }
    | { kind: 'ask', reason?: string }
    /** At most 32 KiB; the call is judged again with it */
    | { kind: 'revise', input: { [key: string]: Json } }
    | { kind: 'annotate', text: string }

  export interface Logger {
    debug(format: unknown, ...values: unknown[]): void
    info(format: unknown, ...values: unknown[]): void
    warn(format: unknown, ...values: unknown[]): void
    error(format: unknown, ...values: unknown[]): void
  }

  export interface Context {
    /** With inject: ['tools'] */
    readonly tools: { register(tool: Tool): Dispose }
    /** With inject: ['commands'] */
    readonly commands: { register(command: Command): Dispose }
    /** With inject: ['prompt'] */
    readonly prompt: { registerSection(section: PromptSection): Dispose }
    /** With inject: ['storage'] */
    readonly storage: Storage
    /** With inject: ['skills'] */
    readonly skills: { registerRoot(root: { path: string }): Dispose }
    /** With inject: ['mcp'] */
    readonly mcp: { registerServer(definition: { serverName: string, server: object }): Dispose }
    /** With inject: ['shellHooks'] */
    readonly shellHooks: { register(definition: { dialect: 'claude-code' | 'codex', point: string, matcher?: string, hook: object }): Dispose }
    readonly logger: Logger & ((name?: string) => Logger)
    /** Asked before any tool runs. next() means "no opinion"; nothing can be approved here. */
    on(event: 'tools/pre-execute', listener: (call: PreExecute, next: () => Verdict) => Verdict | Promise<Verdict>): Dispose
    /** Further cleanup: the function that @run returns is called, and awaited for at most 2 s, when the extension ends */
    effect(run: () => Dispose, label?: string): Dispose
  }

  /** What a native entry exports; also as its default export */
  export interface Extension<Config = any> {
    name?: string
    inject?: string[]
    /** A schema with the "~standard" interface, for example of schemastery */
    Config?: unknown
    apply(ctx: Context, config: Config): void | Dispose | Promise<void | Dispose>
  }
}
