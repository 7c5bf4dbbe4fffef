/** Scenes of instances that share a database must find each known bug in a copy of the sources. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { PostgresServer } from '../support/postgres-server.ts'
import { reportFigure } from '../support/soaks.ts'
import { copySources, type Edit } from '../support/sources.ts'
import { clusterMutants } from './cluster/cluster-mutants.ts'

const TIMEOUT_MS = 90_000

let server: PostgresServer
let caught = 0

beforeAll(async () => {
  server = await PostgresServer.create()
}, 60_000)
afterAll(() => server.close())

type SceneRun = { readonly exitCode: number; readonly played: string | undefined; readonly output: string }

/** Plays a scene in a process of its own. */
async function play(root: string, scene: string): Promise<SceneRun> {
  const program = join(root, 'test/money/cluster/scenes.ts')
  const args = ['--no-env-file', program, '--server', server.url(), '--scene', scene]
  const child = Bun.spawn([process.execPath, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const line = stdout.trim().split('\n').at(-1) ?? ''
  const played = line.startsWith('{') ? (JSON.parse(line) as { readonly kind: string }).kind : undefined
  return { exitCode: await child.exited, played, output: stdout + stderr }
}

async function playWith(edits: readonly Edit[], scene: string): Promise<SceneRun> {
  const copy = copySources(edits)
  try {
    return await play(copy.folder, scene)
  } finally {
    copy.remove()
  }
}

test.each([...new Set(clusterMutants.map(({ scene }) => scene))])(
  'without a bug, the scene %s keeps every promise',
  async (scene) => {
    const { exitCode, played, output } = await play(resolve(import.meta.dir, '../..'), scene)
    expect(played, output).toBe('kept')
    expect(exitCode).toBe(0)
  },
  TIMEOUT_MS,
)

// A crash of the copy is no violation: it would say nothing about the scene.
test.each(clusterMutants)(
  'a scene notices when $name',
  async ({ edits, scene }) => {
    const { exitCode, played, output } = await playWith(edits, scene)
    expect(played, output).toBe('violated')
    expect(exitCode).toBe(1)
    caught++
  },
  TIMEOUT_MS,
)

test('each bug is caught', () => {
  reportFigure(`${caught} of ${clusterMutants.length} seeded bugs of a cluster caught`)
  expect(caught).toBe(clusterMutants.length)
})
