/** The command line as people and scripts use it: the real program as a process, with and without a server. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { programFile } from '../../bin/program.js'
import { loadAll } from '../../src/cli/registry.ts'
import { sandboxModels } from '../../src/sandbox-provider.ts'
import { startSandboxProcess } from '../support/gateway.ts'

const ROOT = resolve(import.meta.dir, '../..')
const MAIN = programFile(ROOT)
const folders: string[] = []

const freshFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
  folders.push(folder)
  return folder
}

type Env = Readonly<Record<string, string>>
type Ran = { readonly code: number; readonly out: string; readonly err: string }
type RunOptions = { readonly env?: Env; readonly stdin?: string; readonly cwd?: string }

const command = (...args: readonly string[]): string[] => [process.execPath, '--no-env-file', MAIN, ...args]
const own = { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), PORT: '0' }
/** Nothing of the machine's own environment: a vendor's key in it would add a provider. */
const envOf = (folder: string, env: Env = {}): Env => ({ ...own, TOLLGATE_DATA: folder, ...env })
/** Runs one command to its end. */
async function run(
  folder: string,
  args: readonly string[],
  { env, stdin = '', cwd = folder }: RunOptions = {},
): Promise<Ran> {
  const child = Bun.spawn(command(...args), {
    env: envOf(folder, env),
    cwd,
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, err }
}

const plain = { concurrent_requests: null, keys: [], proxy: null, headers: [], query: [], has_ca: false }
/** Runs a command with --json that is expected to work; returns what it printed. */
async function json<T = Record<string, unknown>>(folder: string, ...args: readonly string[]): Promise<T> {
  const { code, out, err } = await run(folder, [...args, '--json'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.endsWith('\n') && !out.trimEnd().includes('\n')).toBe(true)
  return JSON.parse(out) as T
}

/** Runs a command with --json that is expected to fail; returns the error's code. */
async function errorOf(
  folder: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ code: string; exit: number }> {
  const { code: exit, out, err } = await run(folder, [...args, '--json'], options)
  expect(err).toBe('')
  const { error } = JSON.parse(out) as { error: { code: string; message: string } }
  expect(error.message.length).toBeGreaterThan(5)
  return { code: error.code, exit }
}

type Server = {
  readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly block: string
  readonly baseUrl: string
}

/** Starts a command that serves, and reads its output until the text ends with `last`. */
async function start(folder: string, args: readonly string[], { env = {} }: { env?: Env } = {}): Promise<Server> {
  const child = Bun.spawn(command(...args), {
    env: envOf(folder, env),
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let block = ''
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    block += chunk
    if (/https?:\/\/[^\s"]+\/v1/.test(block) && block.endsWith('\n')) break
  }
  const baseUrl = /https?:\/\/[^\s"]+\/v1/.exec(block)?.[0]
  if (!baseUrl) throw new Error(`it did not start: ${await child.stderr.text()}`)
  return { child, block, baseUrl }
}

async function stop({ child }: Server): Promise<number> {
  child.kill('SIGTERM')
  return child.exited
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

describe('help', () => {
  test('every command has examples before everything else, then usage and exit codes', async () => {
    const entries = await loadAll()
    const names = entries.flatMap((entry) => [
      entry.name,
      ...(entry.kind === 'group' ? entry.commands.map(({ name }) => name) : []),
    ])
    expect(names).toHaveLength(72)
    const folder = freshFolder()
    const helps = await Promise.all(names.map((name) => run(folder, [...name.split(' '), '--help'])))
    for (const [i, { code, out, err }] of helps.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(/^Examples\n {2}(# .+\n {2})?\S*tollgate /)
      expect(out).toContain(`\nUsage\n  tollgate ${names[i]} `)
      expect(out).toMatch(/\nExit codes\n {2}0 {4}/)
      expect(out.split('\n').filter((line) => line.length > 120)).toEqual([])
    }
  })

  test('the program has help, a version, and both by their short names', async () => {
    const folder = freshFolder()
    const help = await run(folder, ['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toStartWith('Examples\n')
    for (const { name } of await loadAll()) expect(help.out).toContain(`\n  ${name} `)
    expect((await run(folder, ['-h'])).out).toBe(help.out)
    expect((await run(folder, ['help'])).out).toBe(help.out)
    expect((await run(folder, ['help', 'key', 'create'])).out).toBe((await run(folder, ['key', 'create', '-h'])).out)
    expect((await run(folder, ['--version'])).out).toMatch(/^tollgate \d+\.\d+\.\d+\n$/)
    expect((await run(folder, ['-v'])).code).toBe(0)
  })
})

describe('a wrong command line', () => {
  const wrong: readonly (readonly [args: string, says: string])[] = [
    ['acount list', "unknown command 'acount'; did you mean account?"],
    ['account lst', "unknown command 'account lst'; did you mean list?"],
    ['credit acme 5', 'did you mean account credit?'],
    ['account', 'account: which command?'],
    ['account create', 'NAME is missing'],
    ['account create a b', "'b' is one word too many"],
    ['account create a --balence 5', 'unknown option --balence; did you mean --balance?'],
    ['account create a --balance five', '--balance must be dollars'],
    ['account credit a 5', '--reason is needed'],
    ['account credit a 0 --reason r', 'AMOUNT must be dollars above zero'],
    ['key create a', '--name is needed'],
    ['provider add x --key sk-secret', 'use --key-stdin or --key-env NAME'],
    ['provider add x --key none --key-env MINE', 'use only one of'],
    ['provider add x --allow-private --forbid-private', 'not both'],
    ['model limits m', 'name a limit'],
    ['model limits m --max-output 0', '--max-output must be a whole number above 0 or none'],
    ['model limits m --pictures maybe', '--pictures must be yes, no or none'],
    ['model add m --price-input 1 --price-output x --offer a/b', '--price-output must be dollars'],
    ['model add m --price-input 1 --price-output 1', '--offer is needed'],
    ['model add m --price-input 1 --price-output 1 --offer nonsense', '--offer must be PROVIDER/MODEL'],
    ['request list --limit 0', '--limit must be a whole number'],
    ['--port 99999', '--port must be a whole number'],
    ['serve --prot 80', 'did you mean --port?'],
    ['sandbox --fault sttus=500', "Unknown fault knob 'sttus'"],
    ['chat hello', '--model is needed'],
    ['key revoke key_1', 'There is no terminal to ask on: add --yes'],
    ['account suspend a --no-input', 'add --yes'],
    ['provider remove x', 'add --yes'],
    ['model remove x', 'add --yes'],
  ]

  test('exits 2, says what is wrong on stderr, and prints nothing on stdout', async () => {
    const folder = freshFolder()
    const ran = await Promise.all(wrong.map(([line]) => run(folder, line.split(' '))))
    for (const [i, { code, out, err }] of ran.entries()) {
      expect({ line: wrong[i]?.[0], code, out }).toEqual({ line: wrong[i]?.[0], code: 2, out: '' })
      expect(err).toContain(wrong[i]?.[1] ?? '')
      expect(err).not.toContain('sk-secret')
    }
  })

  test('is said as JSON on stdout with --json', async () => {
    expect(await errorOf(freshFolder(), ['account', 'crate', 'x'])).toEqual({ code: 'usage', exit: 2 })
    expect(await errorOf(freshFolder(), ['account', 'create'])).toEqual({ code: 'usage', exit: 2 })
  })
})

describe('before anything is there', () => {
  test('a folder that is none is named, and is not made', async () => {
    const folder = join(freshFolder(), 'nowhere')
    const { code, out, err } = await run(folder, ['account', 'list'], { cwd: tmpdir() })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('nowhere is not a data folder')
    expect(existsSync(folder)).toBe(false)
    expect(await errorOf(folder, ['account', 'list'], { cwd: tmpdir() })).toEqual({ code: 'no_data_folder', exit: 1 })
    // What the program knows without one is told without one.
    const presets = await run(folder, ['provider', 'presets'], { cwd: tmpdir() })
    expect([presets.code, presets.out.includes('OPENAI_API_KEY'), existsSync(folder)]).toEqual([0, true, false])
  })

  test('a configuration that cannot be used is one line without a stack', async () => {
    const folder = freshFolder()
    await Bun.write(join(folder, 'tollgate.yaml'), 'modles: {}\n')
    for (const args of [['serve'], ['account', 'list'], ['verify-ledger']]) {
      const { code, err } = await run(folder, args)
      expect(code).toBe(1)
      expect(err).toMatch(/^tollgate: .*tollgate\.yaml:1: .*unknown key 'modles'; there are [a-z_, ]+\n$/)
    }
    const unusable = { code: 'config_error', exit: 1 }
    expect(await errorOf(folder, ['account', 'list'], { env: { PORT: 'x' } })).toEqual(unusable)
    expect(await errorOf(folder, ['account', 'list', '--config', 'none.yaml'])).toEqual(unusable)
  })

  test('init writes a declaration, makes a first key, and never overwrites by itself', async () => {
    const folder = freshFolder()
    const data = join(folder, 'data')
    const first = await run(data, ['init'], { cwd: folder, env: { PORT: '8080' } })
    expect(first.code).toBe(0)
    expect(first.err).toContain('tollgate serve')
    const key = /sk-tg-\w+/.exec(first.out)?.[0] ?? ''
    expect(first.out).toContain(`curl http://127.0.0.1:8080/v1/chat/completions`)
    expect(await Bun.file(join(folder, 'tollgate.yaml')).text()).toContain('# providers:')
    expect(await errorOf(data, ['init'], { cwd: folder })).toEqual({ code: 'exists', exit: 1 })
    const again = await run(data, ['init', '--force', '--json'], { cwd: folder })
    expect(JSON.parse(again.out)).toMatchObject({ account: 'default', key: null, curl: null, data_folder: data })
    const keys = await json<{ key: string }[]>(data, 'key', 'list')
    expect(keys.map((view) => view.key)).toEqual([`sk-tg-…${key.slice(-4)}`])
  })
})

/** Accounts, keys, providers and models, once through a server and once on the folder itself. */
for (const served of [true, false]) {
  describe(served ? 'with a server' : 'without a server', () => {
    let folder: string
    let server: Server | undefined

    beforeAll(async () => {
      folder = freshFolder()
      server = await start(folder, ['serve'])
      if (!served) await stop(server)
    })
    afterAll(async () => {
      if (server && served) expect(await stop(server)).toBe(0)
    })

    test('an account is made, shown, allowed, suspended and resumed', async () => {
      const made = await json(folder, 'account', 'create', 'acme', '--balance', '25.00', '--models', 'sandbox-chat')
      expect(made).toMatchObject({
        name: 'acme',
        status: 'active',
        models: ['sandbox-chat'],
        available_usd: '25.00',
        active_keys: 0,
      })
      expect(await json(folder, 'account', 'show', String(made['id']))).toEqual(made)
      expect(await json(folder, 'account', 'models', 'acme', 'all')).toMatchObject({ models: null })
      expect(await json(folder, 'account', 'models', 'acme', 'sandbox-mini')).toMatchObject({
        models: ['sandbox-mini'],
      })
      expect(await json(folder, 'account', 'suspend', 'acme', '--yes')).toMatchObject({ status: 'suspended' })
      expect(await json(folder, 'account', 'resume', 'acme')).toMatchObject({ status: 'active' })
      expect(await errorOf(folder, ['account', 'create', 'acme'])).toEqual({ code: 'conflict', exit: 1 })
      expect(await errorOf(folder, ['account', 'show', 'nobody'])).toEqual({ code: 'not_found', exit: 1 })
      const { out } = await run(folder, ['account', 'list'])
      expect(out.split('\n').map((line) => line.trimEnd().split(/ {2,}/).slice(0, 4))).toMatchObject([
        ['NAME', 'STATUS', 'AVAILABLE', 'HELD'],
        ['default', 'active', '$1.00', '$0.00'],
        ['acme', 'active', '$25.00', '$0.00'],
        [''],
      ])
    })

    test('a credit is booked once per reference, and a debit takes no more than there is', async () => {
      const credit = ['account', 'credit', 'acme', '5.50', '--reason', 'top up', '--ref', 'invoice-1']
      const booked = await run(folder, credit)
      expect(booked).toMatchObject({ code: 0, err: '$5.50 added, reference invoice-1\n' })
      expect(booked.out).toContain('$30.50')
      const again = await run(folder, credit)
      expect(again).toMatchObject({ code: 1, out: '' })
      expect(again.err).toContain('booked already')
      expect(await errorOf(folder, credit)).toEqual({ code: 'conflict', exit: 1 })
      const debit = await json(folder, 'account', 'debit', 'acme', '0.25', '--reason', 'fee')
      expect(debit).toMatchObject({ available_usd: '30.25' })
      expect(String(debit['ref'])).toStartWith('debit_')
      expect(await errorOf(folder, ['account', 'debit', 'acme', '100', '--reason', 'r'])).toMatchObject({
        code: 'conflict',
      })
      expect(await json(folder, 'account', 'show', 'acme')).toMatchObject({ available_usd: '30.25' })
    })

    test('key create prints the key alone, and revoke ends it', async () => {
      const create = ['key', 'create', 'acme', '--name', 'my app', '--models', 'sandbox-mini']
      const { code, out, err } = await run(folder, create)
      expect(code).toBe(0)
      expect(out).toMatch(/^sk-tg-\w{49}\n$/)
      expect(err).toContain('shown only once')
      const [view] = await json<{ id: string }[]>(folder, 'key', 'list', 'acme')
      expect(view).toMatchObject({
        account: 'acme',
        name: 'my app',
        key: `sk-tg-…${out.slice(-5, -1)}`,
        status: 'active',
        models: ['sandbox-mini'],
      })
      expect(JSON.stringify(await json(folder, 'key', 'list'))).not.toContain(out.trim())
      expect(await json(folder, 'key', 'revoke', view?.id ?? '', '--yes')).toMatchObject({ status: 'revoked' })
      expect((await run(folder, ['key', 'list', 'acme'])).out).toContain('revoked')
      expect(await errorOf(folder, ['key', 'revoke', 'key_none', '--yes'])).toEqual({ code: 'not_found', exit: 1 })
    })

    test('a provider takes its key from stdin or the environment, and never shows it', async () => {
      const add = [
        'provider',
        'add',
        'far',
        '--preset',
        'openai',
        '--base-url',
        'http://127.0.0.1:9/v1',
        '--allow-private',
      ]
      const added = await run(folder, [...add, '--key-stdin'], { stdin: 'sk-vendor-secret\n' })
      expect(added.code).toBe(0)
      expect(added.out + added.err).not.toContain('sk-vendor')
      const unasked = await run(folder, ['provider', 'add', 'near', '--base-url', 'http://localhost:9/v1'])
      expect(unasked).toMatchObject({ code: 1, out: '' })
      expect(unasked.err).toContain('add --allow-private')
      expect(await errorOf(folder, [...add, '--key-env', 'NO_SUCH'])).toEqual({ code: 'no_key', exit: 1 })
      expect(await errorOf(folder, [...add, '--key-env', 'A', '--key-stdin'])).toEqual({ code: 'usage', exit: 2 })
      const mine = await run(folder, ['provider', 'add', 'groq', '--key-env', 'MINE'], { env: { MINE: 'gsk' } })
      expect(mine.code).toBe(0)
      const views = await json<{ id: string }[]>(folder, 'provider', 'list')
      expect(views.find(({ id }) => id === 'far')).toEqual({
        id: 'far',
        preset: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
        allow_private: true,
        ...plain,
        has_key: true,
        origin: 'stored',
        state: 'serving',
      } as never)
      expect(views.find(({ id }) => id === 'groq')).toMatchObject({
        preset: 'groq',
        base_url: 'https://api.groq.com/openai/v1',
      })
      expect(await json<unknown[]>(folder, 'provider', 'presets')).toContainEqual(
        expect.objectContaining({ id: 'groq', key_variable: 'GROQ_API_KEY' }),
      )
      expect(await errorOf(folder, ['provider', 'remove', 'sandbox', '--yes'])).toEqual({ code: 'declared', exit: 1 })
      expect(await json(folder, 'provider', 'remove', 'groq', '--yes')).toEqual({ id: 'groq', removed: true })
    })

    test('a key changed without an address stays with the address', async () => {
      const changed = await run(folder, ['provider', 'add', 'far', '--key-stdin', '--json'], { stdin: 'sk-other' })
      expect(JSON.parse(changed.out)).toMatchObject({
        preset: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
        allow_private: true,
        has_key: true,
      })
    })

    test('provider test says what came back, and exits 1 when it is not good', async () => {
      const bad = await run(folder, ['provider', 'test', 'far'])
      expect(bad).toMatchObject({ code: 1, err: '' })
      expect(bad.out).toMatch(/^far {2}failed {2}no connection/)
      const vendor = await startSandboxProcess()
      await json(folder, 'provider', 'add', 'near', '--base-url', vendor.baseUrl, '--allow-private')
      expect((await run(folder, ['provider', 'test', 'near'])).out).toMatch(
        /^near {2}ok {2}status 200 in \d+ ms, \d+ models\n$/,
      )
      expect(await json(folder, 'provider', 'test', 'near')).toMatchObject({ ok: true, status: 200, problem: null })
      await vendor.stop()
    })

    test('a model has a price and offers', async () => {
      const sale = ['--price-input', '0.15', '--price-output', '0.60', '--price-cached-input', '0.05']
      const long = 'provider=near,model=sandbox-mini,cost-input=0.1,cost-output=0.2,priority=1,weight=3'
      const added = await json(
        folder,
        'model',
        'add',
        'fast',
        ...sale,
        '--offer',
        'far/gpt-x',
        '--offer',
        long,
        '--max-output',
        '100',
      )
      expect(added).toMatchObject({
        id: 'fast',
        origin: 'stored',
        price: { input_usd_per_million: '0.15', cached_input_usd_per_million: '0.05', output_usd_per_million: '0.60' },
        limits: { output_tokens_max: 100, output_tokens_min: 256 },
        offers: expect.arrayContaining([
          expect.objectContaining({ provider: 'far', model: 'gpt-x', priority: 0, weight: 1 }),
          expect.objectContaining({ provider: 'near', model: 'sandbox-mini', priority: 1, weight: 3 }),
        ]),
      })
      const { out } = await run(folder, ['model', 'list'])
      expect(out).toMatch(/\nfast +\$0\.15 +\$0\.05 +\$0\.60 +— +stored +\S+/)
      expect(out).toMatch(/\nsandbox-video-fast +— +— +— +.* second\/720p \$0\.03, 3 more +declared/)
      const orphan = ['model', 'add', 'x', '--price-input', '1', '--price-output', '1', '--offer', 'nobody/x']
      expect(await errorOf(folder, orphan)).toEqual({ code: 'not_found', exit: 1 })
      expect(await json(folder, 'model', 'remove', 'fast', '--yes')).toEqual({ id: 'fast', removed: true })
    })

    test('doctor warns of what is missing and fails for what is broken', async () => {
      const { code, out } = await run(folder, ['doctor'])
      expect(code).toBe(1)
      expect(out).toMatch(/^ok {4}configuration /)
      expect(out).toMatch(/\nfail {2}provider far +no connection/)
      expect(out).toMatch(/\nok {4}ledger +clean/)
      expect(out).toMatch(/\n(?:ok|warn) +connections +\d+ at once/)
      expect(out).toContain('body_bytes_max')
      expect(out).toMatch(/\nLimits of a model without its own\n(?:\w+ +\d+\n)*first_event_timeout_ms +60000\n/)
      expect(out).toMatch(/\nFixed limits\n(?:\w+ +\d+ {2}.+\n)*json_depth_max +64 {2}A more deeply .+\n/)
      await json(folder, 'provider', 'remove', 'far', '--yes')
      await json(folder, 'provider', 'remove', 'near', '--yes')
      const report = await json<{ ok: boolean; checks: { name: string; state: string }[] }>(folder, 'doctor')
      expect(report.ok).toBe(true)
      expect(report.checks.map(({ state }) => state)).not.toContain('fail')
      const open = await run(folder, ['doctor'], { env: { HOST: '0.0.0.0' } })
      expect(open).toMatchObject({ code: 0 })
      expect(open.out).toMatch(/\nwarn {2}address .* TOLLGATE_PUBLIC_URL/)
    })

    test('the ledger is clean', async () => {
      const { code, out } = await run(folder, ['verify-ledger'])
      expect(code).toBe(0)
      expect(out).toMatch(/^ledger clean: 2 accounts, 0 open holds, checked in \d+ ms\n$/)
      expect(await json(folder, 'verify-ledger')).toMatchObject({ clean: true, findings: [], accounts: 2 })
    })

    test('commands of one script may run at the same time', async () => {
      const ran = await Promise.all(Array.from({ length: 4 }, () => run(folder, ['account', 'list'])))
      expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    })
  })
}

test('a credit whose answer is lost says how to try again without booking twice', async () => {
  const folder = freshFolder()
  // A server that dies between the booking and its answer.
  const dying = Bun.listen({ unix: join(folder, 'control.sock'), socket: { data: (socket) => void socket.end() } })
  const { code, out, err } = await run(folder, ['account', 'credit', 'acme', '5', '--reason', 'r'])
  dying.stop(true)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toMatch(
    /^tollgate: the answer was lost \(.+\)\. Try again with --ref credit_[\w-]+: it is booked at most once/,
  )
})

describe('verify-ledger', () => {
  test('names what is broken and exits 1', async () => {
    const folder = freshFolder()
    await stop(await start(folder, ['serve']))
    const db = new Database(join(folder, 'tollgate.db'))
    db.exec('UPDATE account SET posted = posted + 5')
    db.close()
    const { code, out, err } = await run(folder, ['verify-ledger'])
    expect(code).toBe(1)
    expect(out).toContain('I2 posted is the sum')
    expect(err).toContain('the ledger is broken in')
    const { findings } = JSON.parse((await run(folder, ['verify-ledger', '--json'])).out) as { findings: object[] }
    expect(findings[0]).toMatchObject({ invariant: expect.stringContaining('I2'), subject: expect.any(String) })
    expect((await run(folder, ['doctor'])).out).toMatch(/\nfail {2}ledger/)
  })
})

describe('serve', () => {
  test('prints one block: where, what, and on the first start a key with a call that works when pasted', async () => {
    const folder = freshFolder()
    const server = await start(folder, [])
    expect(server.block).toMatch(
      /^Tollgate \d+\.\d+\.\d+\n\nBase URL {2}http:\/\/127\.0\.0\.1:\d+\/v1\nModels {4}\d+: sandbox-chat, sandbox-embedding, .+\n/,
    )
    expect(server.block).toContain(`\nModels    ${sandboxModels.length}: `)
    expect(server.block).toContain(`\nData      ${folder}\n`)
    expect(server.block).toMatch(/\nKey {7}sk-tg-\w{49} \(account 'default'; shown only once\)\n/)
    const curl = server.block.slice(server.block.indexOf('curl '))
    const pasted = Bun.spawnSync(['sh', '-c', curl.replace('curl ', 'curl -s ')])
    expect(JSON.parse(pasted.stdout.toString())).toMatchObject({
      model: 'sandbox-chat',
      choices: [{ finish_reason: 'stop' }],
    })
    expect(await stop(server)).toBe(0)

    const again = await start(folder, ['serve'])
    expect(again.block).toContain('\nKey       make one: tollgate key create default --name my-app\n')
    expect(again.block).not.toContain('sk-tg-')
    expect(await stop(again)).toBe(0)
  })

  test('prints the block as JSON on one line', async () => {
    const folder = freshFolder()
    const server = await start(folder, [
      '--json',
      'serve',
      '--port',
      '0',
      '--host',
      'localhost',
      '--data',
      join(folder, 'deep'),
    ])
    expect(JSON.parse(server.block)).toEqual({
      version: expect.stringMatching(/^\d/),
      base_url: server.baseUrl,
      models: sandboxModels.map(({ id }) => id).toSorted(),
      data_folder: join(folder, 'deep'),
      pid: server.child.pid,
      first_key: expect.stringMatching(/^sk-tg-\w{49}$/),
      setup_url: expect.stringMatching(/\/console\/setup#setup_\w{43}$/),
    })
    expect(await json(folder, '--data', 'deep', 'account', 'list')).toHaveLength(1)
    expect(await json(folder, 'account', 'list', '--data=deep')).toHaveLength(1)
    expect(await stop(server)).toBe(0)
  })

  test('a second one on the same data folder says who has it', async () => {
    const folder = freshFolder()
    const server = await start(folder, ['serve'])
    const port = new URL(server.baseUrl).port
    for (const second of [await run(folder, ['serve']), await run(folder, ['serve', '--port', port])]) {
      expect(second).toEqual({
        code: 1,
        out: '',
        err: `tollgate: ${folder} is in use by another Tollgate (pid ${server.child.pid})\n`,
      })
    }
    expect(await errorOf(folder, ['serve'])).toEqual({ code: 'data_folder_in_use', exit: 1 })
    expect(await stop(server)).toBe(0)
  })

  test('a port that is taken is named, and costs no first key', async () => {
    const folder = freshFolder()
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('other') })
    const port = String(other.port)
    const failed = await run(folder, ['serve'], { env: { PORT: port } })
    expect(failed).toMatchObject({ code: 1, out: '' })
    expect(failed.err).toMatch(new RegExp(`^tollgate: 127\\.0\\.0\\.1:${port} is in use; choose another PORT`))
    expect(await errorOf(folder, ['serve', '--port', port])).toEqual({ code: 'port_in_use', exit: 1 })
    const monitored = await run(folder, ['serve'], { env: { PORT: '0', TOLLGATE_METRICS_PORT: port } })
    expect(monitored.err).toStartWith(`tollgate: 127.0.0.1:${port} is in use; choose another TOLLGATE_METRICS_PORT,`)
    await other.stop(true)
    const server = await start(folder, ['serve'])
    expect(server.block).toContain('sk-tg-')
    expect(await stop(server)).toBe(0)
  })

  test('a second signal does not wait for running requests', async () => {
    const folder = freshFolder()
    const server = await start(folder, ['serve', '--json'])
    const { first_key: key } = JSON.parse(server.block) as { first_key: string }
    const stream = await fetch(`${server.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox-chat',
        stream: true,
        messages: [{ role: 'user', content: 'Write 4000 tokens' }],
      }),
    })
    expect(stream.status).toBe(200)
    const reader = stream.body?.getReader()
    await reader?.read()
    server.child.kill('SIGTERM')
    expect(await Promise.race([server.child.exited, Bun.sleep(500)])).toBeUndefined()
    server.child.kill('SIGINT')
    expect(await server.child.exited).toBe(130)
    await reader?.cancel()
  })

  test.each([
    ['its launcher', `TOLLGATE_LAUNCHER_PID=$$ ${command('serve').join(' ')}`],
    ['the shell of `npm start`', `npm_lifecycle_event=start node ${ROOT}/bin/tollgate.js serve`],
  ])('it drains when %s is gone', async (_, started) => {
    const folder = freshFolder()
    const line = `${started} > out 2> err & echo $!; while [ ! -s out ]; do sleep 0.05; done`
    const launcher = Bun.spawn(['sh', '-c', line], { env: envOf(folder), cwd: folder, stdout: 'pipe' })
    const pid = Number(await launcher.stdout.text())
    expect(pid).toBeGreaterThan(0)
    for (let waited = 0; (await Bun.file(join(folder, 'err')).text()).includes('drain.done') === false; waited++) {
      if (waited > 100) process.kill(pid, 'SIGKILL')
      expect(waited).toBeLessThan(101)
      await Bun.sleep(100)
    }
    expect(existsSync(join(folder, 'control.sock'))).toBe(false)
  })
})

describe('chat and requests', () => {
  let folder: string
  let server: Server
  let env: Env

  beforeAll(async () => {
    folder = freshFolder()
    await Bun.write(
      join(folder, 'tollgate.yaml'),
      [
        'models:',
        '  slow: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: sandbox-chat!pace=100 }] }',
        '  cut: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: "sandbox-chat!error-event=5" }] }',
        '  steer: { price: { input: 1, output: 1 }, offers: [{ provider: sandbox, model: sandbox-mini }] }',
      ].join('\n'),
    )
    server = await start(folder, ['serve', '--json'])
    const { first_key: key } = JSON.parse(server.block) as { first_key: string }
    env = { TOLLGATE_API_KEY: key, TOLLGATE_BASE_URL: server.baseUrl }
  })
  afterAll(async () => {
    expect(await json(folder, 'verify-ledger')).toMatchObject({ clean: true })
    expect(await stop(server)).toBe(0)
  })

  for (const how of [[], ['--no-stream']]) {
    test(`an answer on stdout, tokens and cost on stderr ${how.join('')}`, async () => {
      const chat = ['chat', 'Say exactly: one two', '--model', 'sandbox-chat', '--system', 'Be brief.', ...how]
      const ran = await run(folder, chat, { env })
      expect(ran).toMatchObject({ code: 0, out: 'one two\n' })
      expect(ran.err).toMatch(/^\[\d+ tokens in, \d+ out, \$0\.0000\d+, \d+\.\d s\]\n$/)
      const value = JSON.parse((await run(folder, [...chat, '--json'], { env })).out) as Record<string, unknown>
      expect(value).toMatchObject({
        text: 'one two',
        finish_reason: 'stop',
        usage: { total_tokens: expect.any(Number) },
      })
      const record = await json(folder, 'request', 'show', String(value['request_id']))
      expect(record).toMatchObject({
        account: 'default',
        model: 'sandbox-chat',
        status: 200,
        charged_usd: value['cost_usd'],
      })
      expect(record['attempts']).toMatchObject([{ provider: 'sandbox', model: 'sandbox-chat', result: 'ok' }])
    })
  }

  test('the prompt may come from stdin, the key from another variable, the limit from an option', async () => {
    const { TOLLGATE_API_KEY: MINE = '', ...rest } = env
    const args = ['chat', '--model', 'sandbox-chat', '--key-env', 'MINE', '--max-tokens', '3']
    const ran = await run(folder, args, { env: { ...rest, MINE }, stdin: 'Write 50 tokens\n' })
    expect(ran.code).toBe(0)
    expect(ran.err).toMatch(/, 3 out, .*, ended by length\]\n$/)
    expect(await errorOf(folder, args, { env: { ...rest, MINE } })).toEqual({ code: 'usage', exit: 2 })
  })

  test('the key is given to no proxy of the environment', async () => {
    const proxied = { ...env, HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9' }
    const ran = await run(folder, ['chat', 'Say exactly: one', '--model', 'sandbox-chat'], { env: proxied })
    expect(ran).toMatchObject({ code: 0, out: 'one\n' })
  })

  test('what goes wrong is said in the words of the envelope', async () => {
    const chat = ['chat', 'hello', '--model', 'sandbox-chat']
    const noKey = await run(folder, chat)
    expect(noKey).toMatchObject({ code: 1, out: '' })
    expect(noKey.err).toContain('tollgate key create default --name chat')
    const badKey = { ...env, TOLLGATE_API_KEY: 'sk-tg-nonsense' }
    expect(await errorOf(folder, chat, { env: badKey })).toEqual({ code: 'invalid_api_key', exit: 1 })
    expect((await run(folder, chat, { env: badKey })).err).toMatch(/^tollgate: .+ \(invalid_api_key, req_\w+\)\n$/)
    expect(await errorOf(folder, ['chat', 'x', '--model', 'nothing'], { env })).toEqual({
      code: 'model_not_found',
      exit: 1,
    })
    expect(await errorOf(folder, [...chat, '--base-url', 'http://127.0.0.1:9/v1'], { env })).toEqual({
      code: 'unreachable',
      exit: 1,
    })
    expect(await errorOf(folder, [...chat, '--base-url', server.baseUrl.replace('/v1', '/v2')], { env })).toEqual({
      code: 'not_found',
      exit: 1,
    })
    expect(await errorOf(folder, [...chat, '--base-url', 'nonsense'], { env })).toEqual({ code: 'usage', exit: 2 })
    const cut = await run(folder, ['chat', 'Write 50 tokens', '--model', 'cut'], { env })
    expect(cut.code).toBe(1)
    expect(cut.out).toMatch(/^\w.*\n$/)
    expect(cut.err).toMatch(/^tollgate: .+ \(upstream_error, req_\w+\)\n$/)
  })

  test('Ctrl-C ends the request and exits 130', async () => {
    const child = Bun.spawn(command('chat', 'Write 400 tokens', '--model', 'slow'), {
      env: envOf(folder, env),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const reader = child.stdout.getReader()
    await reader.read()
    child.kill('SIGINT')
    expect(await child.exited).toBe(130)
    expect(await child.stderr.text()).toBe('tollgate: interrupted\n')
    let newest: Record<string, unknown> | undefined
    for (let tries = 0; newest?.['model'] !== 'slow' && tries < 20; tries++) {
      newest = (await json<Record<string, unknown>[]>(folder, 'request', 'list', 'default', '--limit', '1'))[0]
    }
    expect(newest).toMatchObject({ model: 'slow', outcome: 'client_closed' })
  })

  test('requests are listed newest first, of one account or all', async () => {
    const { out } = await run(folder, ['request', 'list', '--limit', '2'])
    expect(out).toMatch(/^TIME +ID +ACCOUNT +MODEL +STATUS +OUTCOME +IN +OUT +CHARGED +MS\n/)
    expect(out.trimEnd().split('\n')).toHaveLength(3)
    const all = await json<{ id: string }[]>(folder, 'request', 'list')
    const next = await json<object[]>(folder, 'request', 'list', '--limit', '1', '--before', all[0]?.id ?? '')
    expect(next).toEqual(all.slice(1, 2))
    expect(all).toEqual(all.toSorted((a, b) => (a.id < b.id ? 1 : -1)))
    const shown = await run(folder, ['request', 'show', all[0]?.id ?? ''])
    expect(shown.out).toMatch(/\ncharged +\$0\.\d+\n/)
    expect(await errorOf(folder, ['request', 'show', 'req_none'])).toEqual({ code: 'not_found', exit: 1 })
    expect(await errorOf(folder, ['request', 'list', 'nobody'])).toEqual({ code: 'not_found', exit: 1 })
  })

  test('a reader that has enough is no failure', async () => {
    const line = `${command('request', 'list', '--limit', '1000').join(' ')} | head -1; exit 0`
    const piped = Bun.spawn(['sh', '-c', line], { env: envOf(folder), stdout: 'pipe', stderr: 'pipe' })
    expect(await piped.stdout.text()).toStartWith('TIME')
    expect(await piped.stderr.text()).toBe('')
  })
})

test('the sandbox alone answers, misbehaves on demand, wants its key, and ends cleanly', async () => {
  const folder = freshFolder()
  const args = ['sandbox', '--port', '0', '--pace', '0', '--key-env', 'VENDOR', '--fault', 'status=429,retry-after=2']
  const sandbox = await start(folder, [...args, '--fault', 'fail-times=1'], { env: { VENDOR: 'sk-vendor' } })
  expect(sandbox.block).toBe(`Sandbox at ${sandbox.baseUrl}\n`)
  const ask = (key: string): Promise<Response> =>
    fetch(`${sandbox.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'hi' }] }),
    })
  expect((await ask('other')).status).toBe(401)
  const refused = await ask('sk-vendor')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
  expect((await ask('sk-vendor')).status).toBe(200)
  const { port } = new URL(sandbox.baseUrl)
  expect(await errorOf(folder, ['sandbox', '--port', port])).toEqual({ code: 'port_in_use', exit: 1 })
  expect(await errorOf(folder, ['sandbox', '--key-env', 'NO_SUCH'])).toEqual({ code: 'no_key', exit: 1 })
  expect(await stop(sandbox)).toBe(0)
  const other = await start(folder, ['sandbox', '--port', '0', '--json'])
  expect(JSON.parse(other.block)).toEqual({ base_url: other.baseUrl, port: expect.any(Number), pid: other.child.pid })
  expect(await stop(other)).toBe(0)
})

describe('a person at a terminal', () => {
  let folder: string
  beforeAll(async () => {
    folder = freshFolder()
    await stop(await start(folder, ['serve']))
  })

  /** Runs a command on a terminal; types an answer once the question has come. */
  async function typed(
    args: readonly string[],
    { answer = '', env = {} }: { answer?: string; env?: Env } = {},
  ): Promise<Ran> {
    let out = ''
    const decoder = new TextDecoder()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const child = Bun.spawn(command(...args), {
      env: envOf(folder, { TERM: 'xterm', ...env }),
      terminal: {
        cols: 200,
        rows: 50,
        exit: () => end(),
        data(terminal, bytes) {
          const isAsked = out.includes('to go on: ')
          out += decoder.decode(bytes, { stream: true })
          if (!isAsked && out.includes('to go on: ')) terminal.write(answer)
        },
      },
    })
    const code = await child.exited
    // What was written last may come after the process is gone; not every system says when the terminal is done.
    await Promise.race([ended, Bun.sleep(1_000)])
    child.terminal?.close()
    return { code, out, err: '' }
  }

  test('destroys only what was typed out', async () => {
    const refused = await typed(['account', 'suspend', 'default'], { answer: 'defautl\r' })
    expect(refused.code).toBe(1)
    expect(refused.out).toContain('not confirmed; nothing was changed')
    expect(await json(folder, 'account', 'show', 'default')).toMatchObject({ status: 'active' })
    expect(await typed(['account', 'suspend', 'default', '--no-input'])).toMatchObject({ code: 2 })
    expect(await typed(['account', 'suspend', 'default'], { answer: '\u0004' })).toMatchObject({ code: 1 })
    expect(await typed(['account', 'suspend', 'default'], { answer: '\u0003' })).toMatchObject({ code: 130 })
    expect(await typed(['account', 'suspend', 'default'], { answer: 'default\r' })).toMatchObject({ code: 0 })
    expect(await json(folder, 'account', 'show', 'default')).toMatchObject({ status: 'suspended' })
  })

  test('sees colours, unless they are not wanted', async () => {
    expect((await typed(['account', 'list'])).out).toContain('\u001b[1mNAME')
    expect((await typed(['account', 'list', '--no-color'])).out).not.toContain('\u001b')
    expect((await typed(['account', 'list'], { env: { NO_COLOR: '1' } })).out).not.toContain('\u001b')
    expect((await run(folder, ['account', 'list'])).out).not.toContain('\u001b')
  })
})
