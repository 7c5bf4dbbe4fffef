/** Runs one task with one program against one strict vendor, and returns the failures. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openTill, PRICE, type StoredRequest } from '../sdk/till.ts'
import { startGateway } from '../support/gateway.ts'
import { startVendor, type Profile, type Vendor } from '../vendors/fake.ts'
import { TASK, TEXT, think } from './mind.ts'
import type { Program, Start, Way } from './programs.ts'

const TASK_TIMEOUT_MS = 120_000

export type Attempt = {
  readonly program: Program
  /** The folder that its package is installed in. */
  readonly installed: string
  readonly way: Way
  readonly profile: Profile
}

/** Empty when all is well. The gateway's own checks, of its ledger and its end, throw. */
export async function attempt({ program, installed, way, profile }: Attempt): Promise<readonly string[]> {
  const vendor = startVendor(profile, think)
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
  const [home, cwd, mark] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'mark')]
  for (const path of [home, cwd]) mkdirSync(path)
  writeFileSync(mark, '')
  const gateway = await startGateway({ yaml: yamlFor(profile, way, vendor) })
  try {
    const till = openTill(() => gateway)
    const me = await till.join()
    const server = join(import.meta.dir, 'words-server.js')
    const start = program.start({
      installed,
      home,
      cwd,
      way,
      task: TASK,
      key: me.key,
      origin: new URL(gateway.baseUrl).origin,
      words: { command: Bun.which('node') ?? process.execPath, args: [server], env: { MARK: mark } },
    })
    const { code, out, problem } = await run(start, { home, cwd })
    const problems = problem === undefined ? [] : [problem]
    if (code !== 0) problems.push(`it ended with ${code}`)
    for (const refusal of vendor.refused) problems.push(`the vendor refused: ${refusal}`)
    const { writesFile, callsServer, says } = program.proof
    if (writesFile && read(join(cwd, 'hello.txt')).trimEnd() !== TEXT) problems.push('the file was not written')
    const calls = read(mark).split('\n').length - 1
    if (callsServer && calls !== 1) problems.push(`the MCP server was called ${calls} times`)
    for (const said of says) if (!out.includes(said)) problems.push(`'${said}' is not in its answer`)
    const records = await till.recordsOf(me, vendor.seen.length)
    problems.push(...records.flatMap(wrongly))
    await till.expectBalance(me, records)
    if (problems.length > 0) problems.push(`it wrote: ${out.slice(-2_000)}`)
    return problems
  } finally {
    await gateway.close()
    await vendor.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const yamlFor = ({ preset, base, model, key = () => 'k' }: Profile, way: Way, { origin }: Vendor): string =>
  [
    'sandbox: false',
    'providers:',
    `  vendor: { preset: ${preset}, base_url: '${origin}${base}', key: '${key(origin)}', allow_private: true }`,
    'models:',
    `  ${way.model}: { price: ${PRICE}, output_tokens_max: 128000, offers: [{ provider: vendor, model: '${model}' }] }`,
  ].join('\n')

/** Every answer of the fakes costs the same. */
function wrongly({ outcome, usage_source: source, input_fresh: input, output_text: output, id }: StoredRequest) {
  const is = `${outcome}, ${source}, ${input} in, ${output} out`
  return is === 'completed, reported, 40 in, 10 out' ? [] : [`${id} was ${is}`]
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Runs a program to its end, in an environment of its own: nothing of the machine's settings, a home that is empty. */
async function run({ command, env = {}, files = {} }: Start, { home, cwd }: { home: string; cwd: string }) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const child = Bun.spawn([...command], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TMPDIR: home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      NO_COLOR: '1',
      SHELL: '/bin/sh',
      DO_NOT_TRACK: '1',
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: TASK_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const code = await child.exited
  const problem = child.signalCode === 'SIGKILL' ? `it was not done after ${TASK_TIMEOUT_MS / 1_000} s` : undefined
  return { code, out: `${out}\n${err}`, problem }
}
