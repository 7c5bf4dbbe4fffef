/** The random conversations must find each known bug in a copy of the sources. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { PlayedRun } from './moves/many.ts'
import { mutants } from './moves/mutants.ts'
import { countOf, reportFigure, seedOfRun } from '../support/soaks.ts'
import { copySources, type Edit } from '../support/sources.ts'

const COUNT = countOf('move-mutants')
const TIMEOUT_MS = 60_000 + COUNT * 40

let caught = 0

async function playWith(edits: readonly Edit[]): Promise<{ played: PlayedRun | undefined; output: string }> {
  const copy = copySources(edits)
  try {
    const program = join(copy.folder, 'test/vendors/moves/run.ts')
    const args = ['--no-env-file', program, String(COUNT), String(seedOfRun())]
    const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    const line = stdout.trim().split('\n').at(-1) ?? ''
    return { played: line.startsWith('{') ? (JSON.parse(line) as PlayedRun) : undefined, output: stdout + stderr }
  } finally {
    copy.remove()
  }
}

// A crash of the copy, a syntax error for one, is no violation: it would say nothing about the conversations.
test.each(mutants)(
  'the conversations notice when $name',
  async ({ edits }) => {
    const { played, output } = await playWith(edits)
    expect(played?.kind, output).toBe('violated')
    expect(output).not.toMatch(/TypeError|ReferenceError|SyntaxError/)
    caught++
  },
  TIMEOUT_MS,
)

test('each bug is another, and each is caught', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  reportFigure(`${caught} of ${mutants.length} seeded bugs caught`)
})
