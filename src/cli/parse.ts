import { parseArgs } from 'node:util'
import { optionsOf, type Command, type Option, type Options, type Positional } from './command.ts'
import { didYouMean } from './suggest.ts'

type Values = Record<string, string | boolean | string[] | undefined>

/** The words of one command line, checked against the command's table. */
export type ParsedCommandLine =
  | { readonly kind: 'parsed'; readonly args: Values; readonly options: Values }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'wrong'; readonly message: string }

/** An error in a command line, in words for the person who typed it. */
class Wrong {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

type Token = ReturnType<typeof tokensOf>[number]
type OptionToken = Extract<Token, { kind: 'option' }>

/** Node's parser only splits the words. The table says what they mean, with better messages than the parser's. */
function tokensOf(argv: readonly string[], known: Options) {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, option]) => [
      name,
      {
        type: 'summary' in option && !('value' in option) ? ('boolean' as const) : ('string' as const),
        ...('short' in option && option.short ? { short: option.short } : {}),
      },
    ]),
  )
  return parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true }).tokens
}

/** Reads the words after a command's name. */
export function parseCommand(command: Command, argv: readonly string[]): ParsedCommandLine {
  const { all } = optionsOf(command)
  const tokens = tokensOf(argv, all)
  const asked = tokens.find((token) => token.kind === 'option' && (token.name === 'help' || token.name === 'version'))
  if (asked?.kind === 'option') return { kind: asked.name === 'help' ? 'help' : 'version' }
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const options = readOptions(
    tokens.filter((token) => token.kind === 'option'),
    all,
  )
  const args = options instanceof Wrong ? options : readPositionals(words, command.positionals ?? [])
  if (options instanceof Wrong || args instanceof Wrong) {
    const { message } = options instanceof Wrong ? options : (args as Wrong)
    return { kind: 'wrong', message: `${command.name}: ${message}` }
  }
  return { kind: 'parsed', args, options }
}

function readOptions(tokens: readonly OptionToken[], known: Options): Values | Wrong {
  const values: Values = {}
  for (const [name, option] of Object.entries(known)) {
    if (takesMany(option)) values[name] = []
    else if ('summary' in option && !('value' in option)) values[name] = false
  }
  for (const token of tokens) {
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined
    if (!option) return new Wrong(`unknown option ${token.rawName}${didYouMean(token.rawName, flagsOf(known))}`)
    if ('refused' in option) return new Wrong(option.refused)
    const value = readOption(token, option)
    if (value instanceof Wrong) return value
    const before = values[token.name]
    if (Array.isArray(before)) before.push(String(value))
    else if (typeof before === 'string') return new Wrong(`${token.rawName} is given twice`)
    else values[token.name] = value
  }
  for (const [name, option] of Object.entries(known)) {
    if (isNeeded(option) && values[name] === undefined) return new Wrong(`--${name} is needed`)
  }
  return values
}

const takesMany = (option: Option): boolean => 'value' in option && option.takes === 'many'
const isNeeded = (option: Option): boolean => 'value' in option && option.takes === 'needed'
const flagsOf = (known: Options): string[] =>
  Object.entries(known).flatMap(([name, option]) => ('refused' in option ? [] : [`--${name}`]))

/** The rule's sentence, with the value if that helps: `must be …, not 'x'`. */
const broken = (problem: string, value: string): string =>
  problem.startsWith('must ') && value.trim() !== '' ? `${problem}, not '${value}'` : problem

function readOption({ rawName, value, inlineValue }: OptionToken, option: Option): string | true | Wrong {
  if (!('value' in option)) return value === undefined ? true : new Wrong(`${rawName} takes no value`)
  const { placeholder, problem } = option.value
  if (value === undefined || (!inlineValue && value.startsWith('-') && value.length > 1)) {
    return new Wrong(`${rawName} needs a value (${rawName}=${placeholder})`)
  }
  const wrong = problem?.(value)
  return wrong === undefined ? value : new Wrong(`${rawName} ${broken(wrong, value)}`)
}

function readPositionals(words: readonly string[], positionals: readonly Positional[]): Values | Wrong {
  const values: Values = {}
  let used = 0
  for (const { name, value, takes = 'one' } of positionals) {
    const given = takes === 'many' ? words.slice(used) : words.slice(used, used + 1)
    if (given.length === 0 && takes === 'one') return new Wrong(`${value.placeholder} is missing`)
    for (const word of given) {
      const problem = value.problem?.(word)
      if (problem !== undefined) return new Wrong(`${value.placeholder} ${broken(problem, word)}`)
    }
    used += given.length
    values[name] = takes === 'many' ? given : given[0]
  }
  const extra = words[used]
  return extra === undefined ? values : new Wrong(`'${extra}' is one word too many`)
}
