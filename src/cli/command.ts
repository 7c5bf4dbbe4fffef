/** Commands as tables: the parser, the help and the types of what `run` gets all come from the same one. */
import type { CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import type { Terminal } from './terminal.ts'
import { text, type ValueRule } from './values.ts'

export type Positional = {
  readonly name: string
  readonly summary: string
  readonly value: ValueRule
  /** One, one that may be left out, or all that follow. The last two only at the end. */
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

/** What `run` gets. */
export type CommandContext<P extends readonly Positional[], O extends Options> = {
  readonly args: Arguments<P>
  readonly options: OptionValues<O>
  readonly program: Program
  readonly terminal: Terminal
}

/** One line of the examples: what to type, and what it does where that is not plain. */
export type Example = readonly [line: string, says?: string]

type Table<P extends readonly Positional[], O extends Options> = {
  /** As typed after `tollgate`: `account credit`. */
  readonly name: string
  readonly summary: string
  readonly examples: readonly [Example, ...Example[]]
  readonly positionals?: P
  readonly options?: O
  /** Paragraphs for the help's end. */
  readonly notes?: string
  /** What exit code 1 means here, where it is more than a failure. */
  readonly failure?: string
  /** A command that destroys: it asks for `word` to be typed, or wants `--yes`. */
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

/** Makes a command of its table. */
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
  json: { summary: 'print JSON on one line, with exact amounts; errors too' },
  'no-color': { summary: 'no colours (also NO_COLOR)' },
  'no-input': { summary: 'never ask, fail instead' },
  help: { summary: 'print this', short: 'h' },
  version: { summary: 'print the version', short: 'v' },
} as const satisfies Options

const yes = { summary: 'do it without asking' } as const

/** All options a command takes, in the order of its help. */
export function optionsOf({ options = {}, confirms }: Command): { readonly own: Options; readonly all: Options } {
  const own = confirms ? { ...options, yes } : options
  return { own, all: { ...own, ...sharedOptions } }
}
