/** Backup and restore over the real command line, with and without a server. */
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, runJson } from '../support/command.ts'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

/** With a vendor of their own the sandbox's models are not everybody's, unless it is said. */
const OPEN = 'sandbox: true\n'

const folders: string[] = []
const folderFor = (): string => {
  const folder = freshFolder()
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type ErrorBody = { readonly error: { readonly code: string; readonly message: string } }
type CreatedView = {
  readonly file: string
  readonly bytes: number
  readonly charges: number
  readonly open_holds: number
}
type RestoreResult = {
  readonly kept: string | null
  readonly made_at: string
  readonly verified: boolean
  readonly secrets: { readonly key_pepper: string; readonly master_key: string }
  readonly problems: readonly string[]
}

const mini = { model: 'sandbox-mini', max_tokens: 5 }
const slow = { model: 'sandbox-chat', stream: true, messages: [{ role: 'user', content: 'write 5000 tokens' }] }
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** A data folder with an account, a key, one charge and a stored vendor credential, and no server. */
async function stoppedFolder(): Promise<{ folder: string; key: string; accountId: string }> {
  const folder = folderFor()
  const gateway = await startGateway({ folder })
  expect((await chat(gateway, mini)).status).toBe(200)
  const provider = { id: 'vendor', preset: 'custom', base_url: 'https://vendor.example/v1', key: 'sealed-credential' }
  await gateway.operate('provider.add', provider)
  process.kill(gateway.pid, 'SIGTERM')
  expect(await gateway.exited).toBe(0)
  return { folder, key: gateway.key, accountId: gateway.accountId }
}

async function charged(gateway: TestGateway, key: string): Promise<number> {
  return (await chat({ baseUrl: gateway.baseUrl, key }, mini)).status
}

describe('a backup of a serving gateway', () => {
  test('is whole while charges go on, and comes back with the key, the balance and the open hold given back', async () => {
    const gateway = await startGateway()
    const vault = folderFor()
    let charges = 0
    let isBusy = true
    const client = async (): Promise<void> => {
      while (isBusy) if ((await chat(gateway, mini)).status === 200) charges++
    }
    const clients = [client(), client(), client()]
    const stream = (await chat(gateway, slow)).body?.getReader()
    await stream?.read()
    const file = join(vault, 'all.db')
    const before = charges
    const made = await runJson<CreatedView>(gateway.folder, ['backup', file, '--with-secrets'])
    expect(charges).toBeGreaterThan(before)
    isBusy = false
    await Promise.all(clients)
    await stream?.cancel()
    expect(made).toMatchObject({ file, verified: true })
    expect(made.open_holds).toBeGreaterThanOrEqual(1)
    expect(readdirSync(vault)).toEqual(['all.db'])
    expect(modeOf(file)).toBe('600')
    await gateway.close()

    const other = folderFor()
    const restored = await runJson<RestoreResult>(other, ['restore', file])
    expect(restored).toMatchObject({ kept: null, verified: true, problems: [] })
    expect(restored.secrets).toEqual({ key_pepper: 'restored', master_key: 'restored' })
    const next = await startGateway({ folder: other })
    expect(next.output()).toContain('"event":"ledger.expired"')
    expect(await next.operate('account.show', { account: gateway.accountId })).toMatchObject({ held_usd: '0.00' })
    expect(await charged(next, gateway.key)).toBe(200)
    await next.close()
  })

  test('is refused while another is being made, and can be made again after', async () => {
    const gateway = await startGateway()
    const vault = folderFor()
    const both = await Promise.all(
      ['a.db', 'b.db'].map((name) =>
        runJson<CreatedView & Partial<ErrorBody>>(gateway.folder, ['backup', join(vault, name)]),
      ),
    )
    const refusals = both.flatMap(({ error }) => (error ? [error.code] : []))
    expect(refusals.length).toBeLessThanOrEqual(1)
    for (const code of refusals) expect(code).toBe('conflict')
    expect(await runJson(gateway.folder, ['backup', join(vault, 'c.db')])).toMatchObject({ verified: true })
    await gateway.close()
  })

  test.if(process.platform === 'linux')('leaves no file open behind it', async () => {
    const gateway = await startGateway()
    const vault = folderFor()
    const filesOpen = (): number => readdirSync(`/proc/${gateway.pid}/fd`).length
    const before = filesOpen()
    for (let i = 0; i < 6; i++) await runJson(gateway.folder, ['backup', join(vault, `${i}.db`)])
    // SQLite keeps one descriptor for the next connection; ended threads take a moment to give theirs back. The server
    // may open a file for an instant at any time, so one look within the bound is enough.
    let open = filesOpen()
    for (let i = 0; i < 50 && open > before + 1; i++) {
      await Bun.sleep(100)
      open = filesOpen()
    }
    expect(open).toBeLessThanOrEqual(before + 1)
    await gateway.close()
  })
})

describe('where a backup goes', () => {
  test('an existing file stays unless forced, and neither the data folder nor a folder is written over', async () => {
    const { folder } = await stoppedFolder()
    const vault = folderFor()
    const file = join(vault, 'one.db')
    writeFileSync(file, 'precious')
    expect(await runJson(folder, ['backup', file])).toMatchObject({ error: { code: 'conflict' } })
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect(await runJson(folder, ['backup', file, '--force'])).toMatchObject({ verified: true })
    for (const wrong of [join(folder, 'tollgate.db'), join(folder, 'new.db'), vault]) {
      expect(await runJson(folder, ['backup', wrong, '--force'])).toMatchObject({ error: { code: 'conflict' } })
    }
    expect(await runJson(folder, ['backup', join(vault, 'no', 'where.db')])).toMatchObject({
      error: { code: 'failed' },
    })
    expect(readdirSync(vault)).toEqual(['one.db'])
    const { code, out, err } = await runCommand(folder, ['backup', join(vault, 'two.db')])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('every page and the ledger')
    expect(out).toContain('keep key.pepper and master.key elsewhere')
  })

  test('that cannot be written says so, and stays undone', async () => {
    const gateway = await startGateway()
    const vault = folderFor()
    // In the way of the unfinished copy, and not removed as a file would be.
    mkdirSync(join(vault, '.a.db.tmp'))
    const { error } = await runJson<ErrorBody>(gateway.folder, ['backup', join(vault, 'a.db')])
    expect(error.code).toBe('failed')
    expect(error.message).toContain('no backup was made: ')
    expect(error.message).toEndWith('.a.db.tmp could not be removed')
    expect(readdirSync(vault)).toEqual(['.a.db.tmp'])
    await gateway.close()
  })

  test('a broken ledger gives no backup', async () => {
    const { folder, accountId } = await stoppedFolder()
    const db = new Database(join(folder, 'tollgate.db'))
    db.prepare('UPDATE account SET posted = posted + 1 WHERE id = ?').run(accountId)
    db.close()
    const vault = folderFor()
    const { error } = await runJson<ErrorBody>(folder, ['backup', join(vault, 'x.db')])
    expect(error.message).toContain('the ledger is broken: I2')
    expect(readdirSync(vault)).toEqual([])
  })
})

describe('the secrets', () => {
  test('are in a backup only when asked for, and nowhere in the restored database', async () => {
    const { folder } = await stoppedFolder()
    const vault = folderFor()
    const secrets = ['key.pepper', 'master.key'].map((name) =>
      Buffer.from(readFileSync(join(folder, name), 'utf8').trim(), 'hex'),
    )
    const holds = (path: string): boolean[] => secrets.map((secret) => readFileSync(path).includes(secret))
    const [plain, full] = [join(vault, 'plain.db'), join(vault, 'full.db')]
    await runJson(folder, ['backup', plain])
    await runJson(folder, ['backup', full, '--with-secrets'])
    expect(holds(plain)).toEqual([false, false])
    expect(holds(full)).toEqual([true, true])
    const other = folderFor()
    await runJson(other, ['restore', full])
    expect(holds(join(other, 'tollgate.db'))).toEqual([false, false])
    for (const name of ['key.pepper', 'master.key']) {
      expect(readFileSync(join(other, name))).toEqual(readFileSync(join(folder, name)))
      expect(modeOf(join(other, name))).toBe('600')
    }
    // Restored over other secrets, those are kept as well.
    const third = await stoppedFolder()
    const value = await runJson<RestoreResult>(third.folder, ['restore', full, '--force'])
    expect(value.secrets).toEqual({ key_pepper: 'restored', master_key: 'restored' })
    expect(readdirSync(third.folder).filter((name) => /^(?:key|master)\..*before-restore/.test(name))).toHaveLength(2)
  })

  test('that are missing or others are named by restore, and the start refuses until the right ones are back', async () => {
    const { folder, key } = await stoppedFolder()
    const file = join(folderFor(), 'plain.db')
    await runJson(folder, ['backup', file])
    const other = folderFor()
    const restored = await runCommand(other, ['restore', file])
    expect(restored.code).toBe(0)
    expect(restored.err).toContain('key.pepper is missing: put it back')
    expect(restored.err).toContain('master.key is missing')
    const refusal = await runJson<ErrorBody>(other, ['account', 'list'])
    expect(refusal.error.code).toBe('secret_mismatch')
    expect(refusal.error.message).toContain('every API key made so far would be refused')
    expect(readdirSync(other)).not.toContain('key.pepper')

    copyFileSync(join(folder, 'key.pepper'), join(other, 'key.pepper'))
    writeFileSync(join(other, 'master.key'), `${'ab'.repeat(32)}\n`)
    const again = await runJson<RestoreResult>(other, ['restore', file, '--force'])
    expect(again.secrets).toEqual({ key_pepper: 'matches', master_key: 'differs' })
    expect((await runJson<ErrorBody>(other, ['account', 'list'])).error.message).toContain('master.key is not the one')
    const environment = { TOLLGATE_MASTER_KEY: readFileSync(join(folder, 'master.key'), 'utf8').trim() }
    const next = await startGateway({ folder: other, env: environment, yaml: OPEN })
    expect(await charged(next, key)).toBe(200)
    await next.close()
  })

  test('that are lost can be replaced knowingly: old keys stay refused, credentials are asked for again', async () => {
    const { folder, key } = await stoppedFolder()
    rmSync(join(folder, 'key.pepper'))
    rmSync(join(folder, 'master.key'))
    expect((await runCommand(folder, ['adopt-secrets'])).code).toBe(2)
    expect(await runJson(folder, ['adopt-secrets', '--yes'])).toEqual({ key_pepper: 'adopted', master_key: 'adopted' })
    expect(await runJson(folder, ['adopt-secrets', '--yes'])).toEqual({
      key_pepper: 'unchanged',
      master_key: 'unchanged',
    })
    const next = await startGateway({ folder, yaml: OPEN })
    expect(await charged(next, key)).toBe(401)
    expect(await charged(next, next.key)).toBe(200)
    const providers = await next.operate<{ id: string; has_key: boolean }[]>('provider.list')
    expect(providers.find(({ id }) => id === 'vendor')?.has_key).toBe(false)
    await next.close()
  })

  test('are not adopted where there is no data folder', async () => {
    const folder = join(folderFor(), 'nowhere')
    expect(await runJson(folder, ['adopt-secrets', '--yes'])).toMatchObject({ error: { code: 'no_data_folder' } })
  })
})

describe('restore', () => {
  test('refuses while a server runs, and where there is a database unless forced; that one is kept', async () => {
    const { folder, accountId } = await stoppedFolder()
    const file = join(folderFor(), 'x.db')
    await runJson(folder, ['backup', file])
    const gateway = await startGateway({ folder })
    const owned = await runJson<ErrorBody>(folder, ['restore', file, '--force'])
    expect(owned.error.code).toBe('data_folder_in_use')
    await gateway.operate('account.credit', { account: accountId, amount: '5', reason: 'after the backup' })
    // A crash, so that the last bookings of the database in place are in its log only.
    await gateway.crash()

    expect(await runJson(folder, ['restore', file])).toMatchObject({ error: { code: 'conflict' } })
    const { kept } = await runJson<RestoreResult>(folder, ['restore', file, '--force'])
    const balance = async (): Promise<unknown> =>
      (await runJson<{ posted_usd: string }>(folder, ['account', 'show', accountId])).posted_usd
    expect(await balance()).toBe('999.999995')
    expect(await runJson(folder, ['restore', kept ?? '', '--force'])).toMatchObject({ made_at: null, problems: [] })
    expect(await balance()).toBe('1004.999995')
    expect(await runJson(folder, ['verify-ledger'])).toMatchObject({ clean: true })
    expect(modeOf(join(folder, 'tollgate.db'))).toBe('600')
  })

  test('over a damaged secret keeps that one beside, and over what cannot be read changes nothing at all', async () => {
    const source = await stoppedFolder()
    const full = join(folderFor(), 'full.db')
    await runJson(source.folder, ['backup', full, '--with-secrets'])
    const { folder } = await stoppedFolder()
    const master = join(folder, 'master.key')
    rmSync(master)
    mkdirSync(master)
    const before = readdirSync(folder).toSorted()
    const pepper = readFileSync(join(folder, 'key.pepper'))
    const { error } = await runJson<ErrorBody>(folder, ['restore', full, '--force'])
    expect(error.message).toStartWith('nothing was changed: ')
    expect(readdirSync(folder).toSorted()).toEqual(before)
    expect(readFileSync(join(folder, 'key.pepper'))).toEqual(pepper)

    rmSync(master, { recursive: true })
    writeFileSync(master, 'half a sec')
    const value = await runJson<RestoreResult>(folder, ['restore', full, '--force'])
    expect(value).toMatchObject({ problems: [], secrets: { key_pepper: 'restored', master_key: 'restored' } })
    const aside = readdirSync(folder).find((name) => name.startsWith('master.key.before-restore')) ?? ''
    expect(readFileSync(join(folder, aside), 'utf8')).toBe('half a sec')
    expect(readdirSync(folder).filter((name) => name.includes('.restoring'))).toEqual([])
    const next = await startGateway({ folder, yaml: OPEN })
    expect(await charged(next, source.key)).toBe(200)
    await next.close()
  })

  test('names a damaged secret that the backup does not hold', async () => {
    const { folder } = await stoppedFolder()
    const plain = join(folderFor(), 'plain.db')
    await runJson(folder, ['backup', plain])
    writeFileSync(join(folder, 'key.pepper'), 'half a sec')
    const { secrets, problems } = await runJson<RestoreResult>(folder, ['restore', plain, '--force'])
    expect(secrets).toEqual({ key_pepper: 'differs', master_key: 'matches' })
    expect(problems).toEqual([expect.stringContaining('key.pepper does not belong to this backup')])
  })

  test('refuses what is no sound backup, and changes nothing then', async () => {
    const { folder, accountId } = await stoppedFolder()
    const vault = folderFor()
    const good = join(vault, 'good.db')
    await runJson(folder, ['backup', good])
    const bad = (name: string, make: (path: string) => void): string => {
      const path = join(vault, name)
      make(path)
      return path
    }
    const edit = (path: string, sql: string): void => {
      copyFileSync(good, path)
      const db = new Database(path)
      db.exec(sql)
      db.close()
    }
    const tampered = `UPDATE account SET posted = posted + 1 WHERE id = '${accountId}'`
    const cases: readonly (readonly [file: string, says: string])[] = [
      [join(vault, 'absent.db'), 'there is no file'],
      [vault, 'is not a file'],
      [bad('text.db', (path) => writeFileSync(path, 'no database at all, but text '.repeat(50))), 'is not a database'],
      [bad('empty.db', (path) => writeFileSync(path, '')), 'is not a backup of Tollgate'],
      [
        bad('foreign.db', (path) => {
          const db = new Database(path)
          db.exec('CREATE TABLE account (id TEXT); PRAGMA user_version = 1')
          db.close()
        }),
        'is not a backup of Tollgate',
      ],
      [bad('tampered.db', (path) => edit(path, tampered)), 'the ledger is broken: I2'],
      [bad('newer.db', (path) => edit(path, 'PRAGMA user_version = 9999')), 'newer Tollgate'],
      [
        bad('cut.db', (path) => {
          copyFileSync(good, path)
          const bytes = readFileSync(good)
          // Rubbish over whole pages, past the schema.
          writeFileSync(path, Buffer.concat([bytes.subarray(0, 8 * 4096), Buffer.alloc(bytes.length - 8 * 4096, 7)]))
        }),
        'damaged',
      ],
      [
        bad('live.db', (path) => {
          copyFileSync(good, path)
          writeFileSync(`${path}-wal`, 'x')
        }),
        'a database in use, not a backup',
      ],
    ]
    const target = folderFor()
    mkdirSync(join(target, 'data'))
    for (const [file, says] of cases) {
      const { error } = await runJson<ErrorBody>(join(target, 'data'), ['restore', file])
      expect(`${file}: ${error.message}`).toContain(says)
      expect(readdirSync(join(target, 'data')).filter((name) => name.startsWith('tollgate.db'))).toEqual([])
    }
  })
})
