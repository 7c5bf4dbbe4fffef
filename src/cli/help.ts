/** Help in the order in which people read it: examples, usage, arguments and options, exit codes. */
import {
  optionsOf,
  sharedOptions,
  type Command,
  type Example,
  type Group,
  type Option,
  type Options,
  type Positional,
} from './command.ts'
import type { Terminal } from './terminal.ts'

type Painter = Pick<Terminal, 'paint'>
type HelpRow = readonly [left: string, right: string]

/** Left columns wider than this push their right column to a line of its own. */
const LEFT_COLUMNS_MAX = 34

function rows(pairs: readonly HelpRow[]): string {
  const width = Math.max(...pairs.map(([left]) => left.length).filter((length) => length <= LEFT_COLUMNS_MAX), 0)
  return pairs
    .map(([left, right]) => {
      if (right === '') return `  ${left}\n`
      return left.length > width
        ? `  ${left}\n  ${' '.repeat(width)}  ${right}\n`
        : `  ${left.padEnd(width)}  ${right}\n`
    })
    .join('')
}

const section = (title: string, body: string, { paint }: Painter): string =>
  body === '' ? '' : `${paint('bold', title)}\n${body}\n`

const exampleRows = (examples: readonly Example[]): string =>
  examples.map(([line, says]) => (says ? `  # ${says}\n` : '') + `  ${line}\n`).join('')

function optionRow([name, option]: [string, Option]): HelpRow[] {
  if ('refused' in option) return []
  const short = 'short' in option && option.short ? `-${option.short}, ` : ''
  if (!('value' in option)) return [[`${short}--${name}`, option.summary]]
  const again = option.takes === 'many' ? ' (repeatable)' : ''
  return [[`${short}--${name} ${option.value.placeholder}`, option.summary + again]]
}

const optionRows = (options: Options): string => rows(Object.entries(options).flatMap(optionRow))

function positionalWord({ value: { placeholder }, takes = 'one' }: Positional): string {
  if (takes === 'one') return placeholder
  return takes === 'maybe' ? `[${placeholder}]` : `[${placeholder}…]`
}

/** `tollgate account credit NAME AMOUNT --reason TEXT [options]` */
export function usageLine(command: Command): string {
  const { own } = optionsOf(command)
  const needed = Object.entries(own).flatMap(([name, option]) =>
    'value' in option && option.takes === 'needed' ? [`--${name} ${option.value.placeholder}`] : [],
  )
  return ['tollgate', command.name, ...(command.positionals ?? []).map(positionalWord), ...needed, '[options]'].join(
    ' ',
  )
}

function exitRows(failure = 'it failed; stderr says why'): string {
  return rows([
    ['0', 'done'],
    ['1', failure],
    ['2', 'the command line is wrong'],
    ['130', 'interrupted'],
  ])
}

export function commandHelp(command: Command, terminal: Painter): string {
  const { own } = optionsOf(command)
  const positionals = (command.positionals ?? []).map((each): HelpRow => [positionalWord(each), each.summary])
  return [
    section('Examples', exampleRows(command.examples), terminal),
    section('Usage', `  ${usageLine(command)}\n  ${command.summary}\n`, terminal),
    section('Arguments', rows(positionals), terminal),
    section('Options', optionRows(own), terminal),
    section('Options of every command', optionRows(sharedOptions), terminal),
    command.notes ? `${command.notes}\n\n` : '',
    section('Exit codes', exitRows(command.failure), terminal),
  ]
    .join('')
    .trimEnd()
}

export function groupHelp({ name, summary, examples, commands }: Group, terminal: Painter): string {
  return [
    section('Examples', exampleRows(examples), terminal),
    section('Usage', `  tollgate ${name} COMMAND [options]\n  ${summary}\n`, terminal),
    section('Commands', rows(commands.map((each) => [each.name, each.summary])), terminal),
    section('Options of every command', optionRows(sharedOptions), terminal),
    section('Exit codes', exitRows(), terminal),
  ]
    .join('')
    .trimEnd()
}

const rootExamples: readonly Example[] = [
  ['tollgate', 'runs the server; the first start prints an API key and a curl command to paste'],
  ['tollgate account create acme --balance 25.00 && KEY=$(tollgate key create acme --name app)'],
  ["tollgate chat 'Hello' --model sandbox-chat"],
  ['tollgate doctor', 'checks the whole set-up'],
]

export function rootHelp(entries: readonly (Command | Group)[], terminal: Painter): string {
  const commands = entries.map(({ name, summary }): HelpRow => [name, summary])
  return [
    section('Examples', exampleRows(rootExamples), terminal),
    section('Usage', '  tollgate [COMMAND] [options]\n  Without a command, it runs the server.\n', terminal),
    section('Commands', rows(commands), terminal),
    section('Options of every command', optionRows(sharedOptions), terminal),
    section('Exit codes', exitRows(), terminal),
  ]
    .join('')
    .trimEnd()
}
