/** Commands as tables. The parser, the help and the types of what `run` receives all come from one table. */
import type { CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import type { Terminal } from './terminal.ts'
import { text, type ValueRule } from './values.ts'

export type Positional = {
  readonly name: string
  readonly summary: string
  readonly value: ValueRule
  /** One word, an optional word, or all remaining words. The last two are allowed only at the end. */
  readonly takes?: 'one' | 'maybe' | 'many'
}

/** A flag, an option with a value, or a name that is refused with an explanation. */
export type Option =
  | { readonly summary: string; readonly short?: string }
  | {
      readonly summary: string
      readonly value: ValueRule
      readonly takes?: 'one' | 'needed' | 'many'
      readonly short?: string
    }
  | { readonly refused: string }

export type Options = Readonly<Record<string, Option>>

type OptionValue<O extends Option> = O extends { readonly value: ValueRule }
  ? O extends { readonly takes: 'many' }
    ? readonly string[]
    : O extends { readonly takes: 'needed' }
      ? string
      : string | undefined
  : boolean

type ArgumentValue<P extends Positional> = P extends { readonly takes: 'many' }
  ? readonly string[]
  : P extends { readonly takes: 'maybe' }
    ? string | undefined
    : string

export type Arguments<P extends readonly Positional[]> = {
  readonly [Each in P[number] as Each['name']]: ArgumentValue<Each>
}
export type OptionValues<O extends Options> = { readonly [Name in keyof O]: OptionValue<O[Name]> }

/** What `run` receives. */
export type CommandContext<P extends readonly Positional[], O extends Options> = {
  readonly args: Arguments<P>
  readonly options: OptionValues<O>
  readonly program: Program
  readonly terminal: Terminal
}

/** One example: the line to type, and what it does if that is not obvious. */
export type Example = readonly [line: string, says?: string]

type Table<P extends readonly Positional[], O extends Options> = {
  /** As typed after `tollgate`: `account credit`. */
  readonly name: string
  readonly summary: string
  readonly examples: readonly [Example, ...Example[]]
  readonly positionals?: P
  readonly options?: O
  /** Paragraphs at the end of the help. */
  readonly notes?: string
  /** What exit code 1 means, if it means more than a failure. */
  readonly failure?: string
  /** For a destructive command: the user must type `word` or pass `--yes`. */
  readonly confirms?: (args: Arguments<P>) => { readonly consequence: string; readonly word: string }
  readonly run: (call: CommandContext<P, O>) => Promise<CommandOutcome>
}

/** A command without the types of its own arguments. */
export type Command = Omit<Table<readonly Positional[], Options>, 'confirms' | 'run'> & {
  readonly kind: 'command'
  readonly confirms?: (args: never) => { readonly consequence: string; readonly word: string }
  readonly run: (call: never) => Promise<CommandOutcome>
}

export type Group = {
  readonly kind: 'group'
  readonly name: string
  readonly summary: string
  readonly examples: readonly [Example, ...Example[]]
  readonly commands: readonly Command[]
}

/** Makes a command from its table. */
export function command<const P extends readonly Positional[] = [], const O extends Options = Record<never, never>>(
  table: Table<P, O>,
): Command {
  return { kind: 'command', ...table }
}

export const group = (table: Omit<Group, 'kind'>): Group => ({ kind: 'group', ...table })

/** Every command takes these, before or after its name. */
export const sharedOptions = {
  data: { summary: 'data folder (TOLLGATE_DATA, else ./data)', value: text('DIR') },
  config: { summary: 'declaration (TOLLGATE_CONFIG, else ./tollgate.yaml)', value: text('FILE') },
  json: { summary: 'print JSON on one line, with exact amounts, also for errors' },
  'no-color': { summary: 'no colours (also NO_COLOR)' },
  'no-input': { summary: 'never ask; fail instead' },
  help: { summary: 'print this help', short: 'h' },
  version: { summary: 'print the version', short: 'v' },
} as const satisfies Options

const yes = { summary: 'do it without asking' } as const

/** All options a command takes, in the order of its help. */
export function optionsOf({ options = {}, confirms }: Command): { readonly own: Options; readonly all: Options } {
  const own = confirms ? { ...options, yes } : options
  return { own, all: { ...own, ...sharedOptions } }
}
