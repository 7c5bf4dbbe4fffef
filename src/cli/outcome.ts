import type { Program } from './program.ts'

/** What a command comes to. `report` in cli.ts turns it into output and an exit code. */
export type CommandOutcome =
  | ShownOutcome
  /** Text for people that has no JSON form: help, the version. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  | { readonly kind: 'usage'; readonly message: string; readonly help?: string }
  /** The command has said everything itself. */
  | { readonly kind: 'ended'; readonly exitCode: number }

export type ShownOutcome = {
  readonly kind: 'shown'
  /** What `--json` prints. */
  readonly value: unknown
  /** The same for people, on stdout. Empty prints nothing. */
  readonly text: string
  /** What goes beside the data, on stderr; not with `--json`. */
  readonly talk?: string | undefined
  /** That the data is not all there is, on stderr: with `--json` only where nobody asked for so few. */
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
/** What a client of the public API was told, with the id by which `request show` explains it. */
export const refusedCall = (
  { code, message, requestId }: { readonly code: string; readonly message: string; readonly requestId?: string | null },
  { json }: { readonly json: boolean },
): CommandOutcome =>
  failed(code, json ? message : `${message} (${[code, ...(requestId ? [requestId] : [])].join(', ')})`)
export const usage = (message: string): CommandOutcome => ({ kind: 'usage', message })
export const exitWith = (exitCode: number): CommandOutcome => ({ kind: 'ended', exitCode })

/** Integers of the store are bigint; they leave as decimal text, whether a server answered or the folder itself. */
const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value)

/** JSON on one line. */
export const jsonLine = (value: unknown): string => JSON.stringify(value, plain)

/** Runs an operation and shows its value, which is a `V` because the operation of that name gives one. */
export async function operate<V>(
  program: Program,
  { name, input }: { readonly name: string; readonly input: object },
  show: (value: V) => CommandOutcome | Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const result = await program.operate(name, input)
  return result.ok ? show(JSON.parse(jsonLine(result.value)) as V) : failed(result.code, result.message)
}
