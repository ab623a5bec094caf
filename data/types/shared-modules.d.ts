// SPDX-License-Identifier: MIT
//
// The modules that the host shares with extensions, as far as most of them use these. Their packages have complete types:
// npm install --save-dev @deepseek-ai/schemastery @deepseek-ai/cordis @deepseek-ai/cosmokit

declare module 'schemastery' {
  interface Schema<T> {
    readonly '~standard': { readonly version: 1, readonly vendor: string, readonly validate: (value: unknown) => any }
    default(value: T): Schema<T>
    description(text: string): Schema<T>
    required(): Schema<T>
    min(value: number): Schema<T>
    max(value: number): Schema<T>
    pattern(expression: RegExp): Schema<T>
  }
  const schema: {
    string(): Schema<string>
    number(): Schema<number>
    natural(): Schema<number>
    boolean(): Schema<boolean>
    array<T>(item: Schema<T>): Schema<T[]>
    dict<T>(value: Schema<T>): Schema<Record<string, T>>
    const<T extends string | number | boolean | null>(value: T): Schema<T>
    union<T>(choices: readonly (Schema<T> | T)[]): Schema<T>
    object<T extends Record<string, Schema<any>>>(members: T): Schema<{ [K in keyof T]: T[K] extends Schema<infer U> ? U : never }>
    any(): Schema<any>
  }
  export default schema
}

declare module '@deepseek-ai/schemastery' {
  export { default } from 'schemastery'
}

declare module 'cosmokit' {
  export const noop: (...args: unknown[]) => any
  export function isNullable(value: unknown): value is null | undefined
  export function pick<T extends object, K extends keyof T>(source: T, keys?: Iterable<K>): Pick<T, K>
  export function omit<T extends object, K extends keyof T>(source: T, keys?: Iterable<K>): Omit<T, K>
}

declare module '@deepseek-ai/cosmokit' {
  export * from 'cosmokit'
}

declare module 'dsh-util-values' {
  export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
  export function isJsonValue(value: unknown): boolean
  export function snapshotJsonValue<T>(value: T): T | undefined
  export function deepEqualJson(a: unknown, b: unknown): boolean
  export function deepFreeze<T>(value: T): T
  export function assertNever(value: never, context?: string): never
}

declare module '@deepseek-ai/dsh-util-values' {
  export * from 'dsh-util-values'
}

declare module '@deepseek-ai/cordis' {
  export const Context: any
  export const Service: any
}
