/**
 * bun test/money/histories/play.ts --histories N [--seed S] [--side-by-side N] [--commands N] [--shrink]: plays random
 * histories in data folders of its own and prints one line of JSON. It exits with 1 when a promise was broken and with
 * another code when it could not tell. It is a program, so that it can run several times at once, and on a copy of the
 * sources with a bug in it (mutants.ts).
 *
 * With --server URL, a server of PostgreSQL, the histories are played in databases of its own, by --ledgers N at once.
 *
 * To look for the shortest history of a violation: --side-by-side 1 --commands 1 --shrink.
 */
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Violation } from './books.ts'
import { session, type Session } from './command.ts'
import { Books, playSession } from './session.ts'

export type PlayedRun =
  | {
      readonly kind: 'kept'
      readonly histories: number
      readonly commands: number
      /** Commands that find nothing to resolve or no funds do nothing: these did something. */
      readonly holds: number
      readonly restarts: number
    }
  | { readonly kind: 'violated'; readonly message: string; readonly seed: number }

/** Verification reads every row: folders are kept small, and the whole linear. */
const SESSIONS_PER_FOLDER = 8

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    seed: { type: 'string' },
    'side-by-side': { type: 'string', default: '25' },
    commands: { type: 'string', default: '50' },
    shrink: { type: 'boolean', default: false },
    server: { type: 'string' },
    ledgers: { type: 'string', default: '1' },
  },
})
const sideBySide = Number(values['side-by-side'])
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const numRuns = Math.ceil(Number(values.histories ?? 100) / sideBySide)

/** A data folder or a database, and what plays a session on it. */
type Stage = { readonly restarts: number; play(session: Session): Promise<number>; close(): Promise<void> }

let stage: Stage | undefined
let sessions = 0
let commands = 0
let holds = 0
let restarts = 0

/** Folders are removed at the very end: a store that was left in the middle of something may still write. */
const folders: string[] = []

async function stageOfNow(): Promise<Stage> {
  if (stage && sessions % SESSIONS_PER_FOLDER !== 0) return stage
  await leave()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-histories-'))
  folders.push(folder)
  return values.server === undefined ? folderStage(folder) : databaseStage(folder, values.server)
}

async function folderStage(folder: string): Promise<Stage> {
  const books = new Books(folder)
  await books.open()
  return {
    get restarts() {
      return books.restarts
    },
    play: (given) => playSession(books, given),
    close: () => books.close(),
  }
}

async function databaseStage(folder: string, server: string): Promise<Stage> {
  const { SharedBooks, playSharedSession } = await import('./shared-session.ts')
  const books = await SharedBooks.open(server, folder, Number(values.ledgers))
  return {
    get restarts() {
      return books.restarts
    },
    play: (given) => playSharedSession(books, given),
    close: () => books.close(),
  }
}

async function leave(): Promise<void> {
  if (!stage) return
  restarts += stage.restarts
  await stage.close()
}

const property = fc.asyncProperty(
  session({ histories: sideBySide, commandsMin: Number(values.commands) }),
  async (given) => {
    const open = await stageOfNow()
    // Until it has passed: what follows a failure, a shrunk session perhaps, starts on a clean page.
    stage = undefined
    holds += await open.play(given)
    stage = open
    sessions++
    for (const { length } of given.histories) commands += length
  },
)

process.on('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

const result = await fc.check(property, { numRuns, seed, endOnFailure: !values.shrink })
const error = result.errorInstance ?? (await leave().catch((broken: unknown) => broken))
if (error !== undefined && !(error instanceof Violation)) throw new Error(`no verdict, seed ${seed}`, { cause: error })
const played: PlayedRun =
  error instanceof Violation
    ? { kind: 'violated', message: error.message, seed }
    : { kind: 'kept', histories: sessions * sideBySide, commands, holds, restarts }
if (values.shrink && result.counterexample) console.error(Bun.inspect(result.counterexample, { depth: 10 }))
console.log(JSON.stringify(played))
process.exit(played.kind === 'kept' ? 0 : 1)
