/** This version opens a data folder of the first release. */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runJson } from '../support/command.ts'
import { chat, freshFolder, startGateway } from '../support/gateway.ts'

const FIXTURE = join(import.meta.dir, '../fixtures/upgrade/schema-1.sql')
const MIGRATIONS = join(import.meta.dir, '../../src/store/migrations')
const schemaNow = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql')).length

/** What the fixture was made under. */
const env = { TOLLGATE_KEY_PEPPER: '5a'.repeat(32), TOLLGATE_MASTER_KEY: 'c3'.repeat(32) }
const KEY = 'sk-tg-Pska2JLKMAQCQMeWVH49fXJicmtFbgvTpgRkkRCcuMp4g76dz'
const POSTED_NANO_USD = 123_749_781_400n

function releasedFolder(): string {
  const folder = freshFolder()
  const db = new Database(join(folder, 'tollgate.db'))
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(readFileSync(FIXTURE, 'utf8'))
  db.close()
  return folder
}

type AccountView = { readonly posted_nano_usd: string; readonly held_nano_usd: string }

test('a database of schema 1 opens, keeps every number, and is charged further', async () => {
  const folder = releasedFolder()
  const gateway = await startGateway({ folder, env, yaml: 'sandbox: true\n' })
  const caller = { baseUrl: gateway.baseUrl, key: KEY }
  const account = (): Promise<AccountView> => gateway.operate('account.show', { account: 'acme' })

  // The hold that the crash left open has been given back; nothing else has moved.
  expect(gateway.output()).toContain('"event":"ledger.expired","holds":1')
  expect(await account()).toMatchObject({ posted_nano_usd: POSTED_NANO_USD.toString(), held_nano_usd: '0' })
  expect(await gateway.operate('ledger.verify')).toMatchObject({ clean: true, open_holds: 0 })
  expect(await gateway.operate('account.show', { account: 'globex' })).toMatchObject({ status: 'suspended' })
  expect(await gateway.operate('account.journal', { account: 'acme' })).toHaveLength(4)

  // The key of then is the key of now; the revoked one is not, and the credential can still be read.
  const models = await fetch(`${caller.baseUrl}/models`, { headers: { authorization: `Bearer ${KEY}` } })
  const listed = ((await models.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  expect(listed).toEqual(expect.arrayContaining(['fast', 'dead', 'sandbox-chat', 'sandbox-mini']))
  const keys = await gateway.operate<{ name: string; status: string }[]>('key.list', { account: 'acme' })
  expect(keys.map(({ name, status }) => `${name} ${status}`)).toEqual(['production active', 'leaked revoked'])
  const providers = await gateway.operate<{ id: string; has_key: boolean }[]>('provider.list')
  expect(providers.find(({ id }) => id === 'vendor')).toMatchObject({ has_key: true })

  const response = await chat(caller, { model: 'sandbox-mini', max_tokens: 5 })
  expect(response.status).toBe(200)
  const { usage } = (await response.json()) as { usage: { completion_tokens: number } }
  const cost = BigInt(usage.completion_tokens) * 1_000n // $1 for a million.
  expect(await account()).toMatchObject({ posted_nano_usd: (POSTED_NANO_USD - cost).toString() })
  const records = await gateway.operate<object[]>('request.list', { account: 'acme', limit: 10 })
  expect(records).toHaveLength(5)

  const db = new Database(join(folder, 'tollgate.db'), { readonly: true })
  expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: schemaNow })
  db.close()
  await gateway.close()
})

test('the database of before an upgrade is kept whole beside the new one', async () => {
  const folder = releasedFolder()
  expect(await runJson<object[]>(folder, ['account', 'list'], env)).toHaveLength(5)
  const kept = join(folder, 'tollgate.db.schema-1')
  expect(existsSync(kept)).toBe(schemaNow > 1)
  if (schemaNow === 1) return
  expect(statSync(kept).mode & 0o777).toBe(0o600)
  const db = new Database(kept, { readonly: true })
  expect(db.query('PRAGMA user_version').get()).toEqual({ user_version: 1 })
  expect(db.query("SELECT state FROM hold WHERE state = 'open'").all()).toHaveLength(1)
  db.close()
  // The way back is a restore, by either version; this one brings it up again.
  const restored = await runJson<{ schema_before: number; schema: number }>(folder, ['restore', kept, '--force'], env)
  expect(restored).toMatchObject({ schema_before: 1, schema: schemaNow, verified: true })
  expect(restored).toMatchObject({ secrets: { key_pepper: 'unknown', master_key: 'unknown' } })
  expect(await runJson<AccountView>(folder, ['account', 'show', 'acme'], env)).toMatchObject({
    posted_nano_usd: POSTED_NANO_USD.toString(),
    held_nano_usd: '0',
  })
})

test('a database newer than the program is refused and left alone', async () => {
  const folder = releasedFolder()
  const path = join(folder, 'tollgate.db')
  const db = new Database(path)
  db.exec('PRAGMA user_version = 9999; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const before = readFileSync(path)
  const refusal = await runJson<{ error: { code: string; message: string } }>(folder, ['account', 'list'], env)
  expect(refusal.error.code).toBe('database_too_new')
  expect(refusal.error.message).toContain('schema 9999')
  expect(readFileSync(path).equals(before)).toBe(true)
})
