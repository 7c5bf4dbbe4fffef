import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SandboxThread } from './thread.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-thread-'))
let thread: SandboxThread | undefined
const reasons: string[] = []

afterEach(() => {
  thread?.stop()
  reasons.length = 0
})
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const chat = (url: string): Promise<Response> =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content: 'Say exactly: hello' }] }),
  })

/** A thread that runs the sandbox, except at these paths. */
function program(name: string, code: string): URL {
  const file = join(folder, `${name}.ts`)
  const real = new URL('./thread-worker.ts', import.meta.url).href
  writeFileSync(file, `import ${JSON.stringify(real)}\n${code}\n`)
  return pathToFileURL(file)
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await condition()); tries += 1) {
    if (tries > 1_500) throw new Error('it did not happen')
    await Bun.sleep(20)
  }
}

const answers = async (url: string): Promise<boolean> =>
  chat(url).then(
    (answer) => answer.ok,
    () => false,
  )

test('answers like the vendor, and ends with its requests', async () => {
  thread = new SandboxThread({ onReplaced: (reason) => reasons.push(reason) })
  await thread.ready
  const { url } = thread
  expect(await (await chat(url)).text()).toContain('hello')
  thread.stop()
  await until(async () => !(await answers(url)))
  expect(reasons).toEqual([])
})

test('a new thread replaces a stuck one at the same address', async () => {
  const marker = join(folder, 'stuck')
  const code = `
import { existsSync, rmSync } from 'node:fs'
setInterval(() => { if (existsSync(${JSON.stringify(marker)})) { rmSync(${JSON.stringify(marker)}); for (;;); } }, 5)`
  thread = new SandboxThread({
    onReplaced: (reason) => reasons.push(reason),
    silenceMs: 2_000,
    program: program('stuck', code),
  })
  await thread.ready
  const { url } = thread
  expect(await answers(url)).toBeTrue()
  writeFileSync(marker, '')
  await until(() => reasons.length > 0)
  expect(reasons).toEqual(['it said nothing for too long'])
  await until(() => answers(thread?.url ?? ''))
  expect(thread.url).toBe(url)
}, 60_000)

test('a new thread replaces a failed one', async () => {
  const marker = join(folder, 'failing')
  const code = `
import { existsSync, rmSync } from 'node:fs'
setInterval(() => { if (existsSync(${JSON.stringify(marker)})) { rmSync(${JSON.stringify(marker)}); throw new Error('a fault') } }, 5)`
  thread = new SandboxThread({
    onReplaced: (reason) => reasons.push(reason),
    program: program('failing', code),
  })
  writeFileSync(marker, '')
  await until(() => reasons.length > 0)
  expect(reasons).toEqual([expect.stringContaining('a fault') as string])
  await until(() => answers(thread?.url ?? ''))
}, 60_000)
