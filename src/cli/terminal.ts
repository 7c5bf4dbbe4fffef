/** The input and output of a command: data on stdout, talk on stderr, questions only to a person. */
import { safeText } from '../lib/primitives/safe-text.ts'

export type TerminalColor = 'bold' | 'dim' | 'red' | 'green' | 'yellow'

export type Terminal = {
  readonly json: boolean
  /** Whether a person reads stdout. */
  readonly watched: boolean
  /** Whether there is a person to ask. */
  readonly interactive: boolean
  readonly paint: (color: TerminalColor, text: string) => string
  data(text: string): void
  talk(text: string): void
  /** Replaces the last line of talk; an empty line removes it. Prints nothing if stderr is not a terminal. */
  redraw(line: string): void
  /** A line that the person types. Undefined at the end of input. Ctrl-C ends the process, as anywhere else. */
  ask(question: string): Promise<string | undefined>
  /** All of stdin. */
  readAll(): Promise<string>
  /** Resolves when everything written has left. `process.exit` would lose what is still queued. */
  flush(): Promise<void>
}

const codes: Readonly<Record<TerminalColor, string>> = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' }

/** Finds a flag that decides how output looks. Such a flag counts even on a wrong command line. */
function hasFlag(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? undefined : end).includes(flag)
}

export function openTerminal(argv: readonly string[]): Terminal {
  const { stdin, stdout, stderr } = process
  const json = hasFlag(argv, '--json')
  const colored = stdout.isTTY && !json && !process.env['NO_COLOR'] && !hasFlag(argv, '--no-color')
  stdout.on('error', leaveWithReader)
  stderr.on('error', goOnUnheard)
  return {
    json,
    watched: stdout.isTTY,
    interactive: stdin.isTTY && stderr.isTTY && !hasFlag(argv, '--no-input'),
    paint: (color, text) =>
      colored && process.env['TERM'] !== 'dumb' ? `\u001b[${codes[color]}m${text}\u001b[0m` : text,
    data: (text) => void stdout.write(text),
    talk: (text) => void stderr.write(safeText(text)),
    redraw(line) {
      if (stderr.isTTY && !json && process.env['TERM'] !== 'dumb') stderr.write(`\r\u001b[2K${printable(line)}`)
    },
    async ask(question) {
      stderr.write(safeText(question))
      // Imported here, because it takes longer to load than everything else that a command needs.
      const { createInterface } = await import('node:readline')
      const lines = createInterface({ input: stdin, terminal: false })
      for await (const line of lines) return line
      return undefined
    },
    readAll: () => Bun.stdin.text(),
    async flush() {
      // Log lines are written at the end of their tick.
      await new Promise((resolve) => void setImmediate(resolve))
      await Promise.all([flushed(stdout), Promise.race([flushed(stderr), Bun.sleep(UNREAD_MS)])])
    },
  }
}

/** A reader that closes stdout has what it wanted, as in `tollgate request list | head -1`. */
function leaveWithReader(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
}

/** A closed stderr must not end the process, least of all a server. Talk and log lines are lost. */
function goOnUnheard(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exit(1)
}

/** How long the last talk waits for a reader that has stopped reading. */
const UNREAD_MS = 2_000

/**
 * Ends a stream and waits until everything has left. A pipe takes 64 KB at a time, and Bun 1.4.5 calls the callback of
 * a write before the rest is gone. Only the callback of the end comes after it.
 */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.end(() => resolve()))
}

/** Untrusted text on one line, for a cell of a table. */
export const printable = (text: string): string => safeText(text).replaceAll(/[\n\t]/g, ' ')
