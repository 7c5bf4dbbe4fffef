import type { Program } from './program.ts'

/** The outcome of a command. `report` in cli.ts turns it into output and an exit code. */
export type CommandOutcome =
  | ShownOutcome
  /** Text for people that has no JSON form: help, the version. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'usage'; readonly message: string; readonly help?: string }
  /** The command has printed everything itself. */
  | { readonly kind: 'ended'; readonly exitCode: number }

export type ShownOutcome = {
  readonly kind: 'shown'
  /** What `--json` prints. */
  readonly value: unknown
  /** The same for people, on stdout. An empty text prints nothing. */
  readonly text: string
  /** Remarks about the data, on stderr. They are not printed with `--json`. */
  readonly talk?: string | undefined
  /** A remark on stderr that there is more data. With `--json` it is printed only if the user set no limit. */
  readonly rest?: { readonly text: string; readonly isWanted: boolean } | undefined
  readonly exitCode?: 0 | 1
}

export const shown = (
  value: unknown,
  text: string,
  beside: Pick<ShownOutcome, 'talk' | 'rest'> = {},
): ShownOutcome => ({
  kind: 'shown',
  value,
  text,
  ...beside,
})
export const failed = (code: string, message: string): CommandOutcome => ({ kind: 'failed', code, message })
/** A refusal of the public API, with the request id that `request show` explains. */
export const refusedCall = (
  { code, message, requestId }: { readonly code: string; readonly message: string; readonly requestId?: string | null },
  { json }: { readonly json: boolean },
): CommandOutcome =>
  failed(code, json ? message : `${message} (${[code, ...(requestId ? [requestId] : [])].join(', ')})`)
export const usage = (message: string): CommandOutcome => ({ kind: 'usage', message })
export const exitWith = (exitCode: number): CommandOutcome => ({ kind: 'ended', exitCode })

/** Integers of the store are bigint. They are printed as decimal text, with a running server and without one. */
const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

/** JSON on one line. */
export const jsonLine = (value: unknown): string => JSON.stringify(value, plain)

/** Runs an operation and shows its value. The caller says which type `V` the operation of that name returns. */
export async function operate<V>(
  program: Program,
  { name, input }: { readonly name: string; readonly input: object },
  show: (value: V) => CommandOutcome | Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const result = await program.operate(name, input)
  return result.ok ? show(JSON.parse(jsonLine(result.value)) as V) : failed(result.code, result.message)
}
