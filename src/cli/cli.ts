/** The command line: finds the command, parses its words, runs it, and reports the outcome. */
import manifest from '../../package.json' with { type: 'json' }
import { sharedOptions, type Command, type Group } from './command.ts'
import { askFirst } from './confirm.ts'
import { commandHelp, groupHelp, rootHelp, usageLine } from './help.ts'
import { jsonLine, usage, type CommandOutcome } from './outcome.ts'
import { parseCommand } from './parse.ts'
import type { Program } from './program.ts'
import { entryNames, loadAll, loadEntry } from './registry.ts'
import { didYouMean } from './suggest.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { failureOf } from './thrown.ts'

type Context = { readonly program: Program; readonly terminal: Terminal }

/** Runs one command line. Returns the exit code once all output has left: 0 ok, 1 failure, 2 usage, 130 interrupted. */
export async function runCli(program: Program, argv: readonly string[]): Promise<number> {
  const terminal = openTerminal(argv)
  let outcome: CommandOutcome
  try {
    outcome = await dispatch({ program, terminal }, argv)
  } catch (error) {
    outcome = failureOf(error)
  }
  const exitCode = report(outcome, terminal)
  await terminal.flush()
  return exitCode
}

/** Splits off the first word that is no option. Shared options may stand before a command's name. */
function cutName(argv: readonly string[]): { readonly name: string | undefined; readonly rest: readonly string[] } {
  let at = 0
  while (isShared(argv[at])) at += argv[at] === '--data' || argv[at] === '--config' ? 2 : 1
  const name = argv[at]
  if (name === undefined || name.startsWith('-')) return { name: undefined, rest: argv }
  return { name, rest: [...argv.slice(0, at), ...argv.slice(at + 1)] }
}

const isShared = (word = ''): boolean =>
  /^-[hv]$/.test(word) || Object.hasOwn(sharedOptions, /^--([\w-]+)/.exec(word)?.[1] ?? '')

const asksHelp = (argv: readonly string[]): boolean => argv.includes('-h') || argv.includes('--help')

async function dispatch(context: Context, argv: readonly string[]): Promise<CommandOutcome> {
  const { name, rest } = cutName(argv)
  if (name === 'help') return dispatch(context, [...rest, '--help'])
  if (name === undefined && asksHelp(rest)) return { kind: 'text', text: rootHelp(await loadAll(), context.terminal) }
  const entry = await loadEntry(name ?? 'serve')
  if (!entry) return usage(`unknown command '${name}'${await meantCommand(name ?? '')}`)
  return entry.kind === 'command' ? runCommand(context, entry, rest) : runGroup(context, entry, rest)
}

/** Suggests a command for a wrong word, also by the second word of its name: `account credit` for `credit`. */
async function meantCommand(word: string): Promise<string> {
  const near = didYouMean(word, entryNames)
  if (near !== '') return near
  const nested = (await loadAll()).flatMap((entry) => (entry.kind === 'group' ? entry.commands : []))
  const named = nested.filter(({ name }) => name.endsWith(` ${word}`)).map(({ name }) => name)
  return named.length > 0 ? `; did you mean ${named.join(' or ')}?` : '; see tollgate --help'
}

async function runGroup(context: Context, group: Group, argv: readonly string[]): Promise<CommandOutcome> {
  const { name, rest } = cutName(argv)
  const help = groupHelp(group, context.terminal)
  if (name === undefined) {
    if (asksHelp(rest)) return { kind: 'text', text: help }
    return { kind: 'usage', message: `${group.name}: which command?`, help }
  }
  const found = group.commands.find((each) => each.name === `${group.name} ${name}`)
  if (found) return runCommand(context, found, rest)
  const known = group.commands.map((each) => each.name.slice(group.name.length + 1))
  return usage(`unknown command '${group.name} ${name}'${didYouMean(name, known) || `; there are ${known.join(', ')}`}`)
}

async function runCommand(
  { program, terminal }: Context,
  command: Command,
  argv: readonly string[],
): Promise<CommandOutcome> {
  const parsed = parseCommand(command, argv)
  if (parsed.kind === 'help') return { kind: 'text', text: commandHelp(command, terminal) }
  if (parsed.kind === 'version') return { kind: 'text', text: `tollgate ${manifest.version}` }
  if (parsed.kind === 'wrong') return { kind: 'usage', message: parsed.message, help: `Usage: ${usageLine(command)}` }
  const { args, options } = parsed
  // The program reads its configuration from the environment. An option changes the environment of one command.
  if (typeof options['data'] === 'string') process.env['TOLLGATE_DATA'] = options['data']
  if (typeof options['config'] === 'string') process.env['TOLLGATE_CONFIG'] = options['config']
  if (command.confirms && options['yes'] !== true) {
    const refusal = await askFirst(terminal, command.confirms(args as never))
    if (refusal) return refusal
  }
  return command.run({ args, options, program, terminal } as never)
}

/** Prints an outcome. Returns its exit code. */
function report(outcome: CommandOutcome, terminal: Terminal): number {
  const { json } = terminal
  switch (outcome.kind) {
    case 'ended':
      return outcome.exitCode
    case 'text':
      terminal.data(`${outcome.text}\n`)
      return 0
    case 'shown':
      terminal.data(json ? `${jsonLine(outcome.value)}\n` : outcome.text)
      if (outcome.talk && !json) terminal.talk(`${outcome.talk}\n`)
      if (outcome.rest && !(json && outcome.rest.isWanted)) terminal.talk(`${outcome.rest.text}\n`)
      return outcome.exitCode ?? 0
    case 'failed':
      if (json) terminal.data(`${jsonLine({ error: { code: outcome.code, message: outcome.message } })}\n`)
      else terminal.talk(`tollgate: ${outcome.message}\n`)
      return 1
    case 'usage':
      if (json) terminal.data(`${jsonLine({ error: { code: 'usage', message: outcome.message } })}\n`)
      else terminal.talk(`tollgate: ${outcome.message}\n${outcome.help ? `\n${outcome.help}\n` : ''}`)
      return 2
  }
}
