import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATABASE, openStore } from '../store/store.ts'
import { Claim, Idempotency, Transcript } from './idempotency.ts'

const DAY_MS = 24 * 3_600_000
const MEBIBYTE = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'tollgate-idempotency-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('what is older than a day is forgotten, but never a request that still runs', async () => {
  const store = await openStore(folder, (message) => {
    throw new Error(message)
  })
  const db = new Database(join(folder, DATABASE))
  const insert = db.prepare(
    `INSERT INTO idempotency (account_id, key, fingerprint, request_id, status, created_at) VALUES ('a', ?1, x'00', ?1, ?2, ?3)`,
  )
  db.transaction(() => {
    for (let i = 0; i < 450; i++) insert.run(`old-${i}`, 200, Date.now() - DAY_MS - 60_000)
    insert.run('running', null, Date.now() - DAY_MS - 120_000)
    insert.run('young', 200, Date.now() - DAY_MS + 60_000)
  })()
  db.close()
  await new Idempotency(store).sweep()
  const left = await store.query('SELECT key FROM idempotency ORDER BY key')
  expect(left.map((row) => row['key'])).toEqual(['running', 'young'])
  await store.close()
})

test('an answer is kept up to a mebibyte of UTF-8, however few characters that are', () => {
  const claim = new Claim('a', { key: 'k', fingerprint: new Uint8Array() }, () => undefined)
  const isKept = (body: string): boolean => {
    const transcript = new Transcript()
    for (let at = 0; at < body.length; at += 1000) transcript.add(body.slice(at, at + 1000))
    const kept = claim.keep({ status: 200, headers: {}, body })[0]?.bind[2] === body
    expect(transcript.text === body).toBe(kept)
    return kept
  }
  expect(isKept('a'.repeat(MEBIBYTE))).toBe(true)
  expect(isKept('a'.repeat(MEBIBYTE + 1))).toBe(false)
  expect(isKept('\u{1f600}'.repeat(MEBIBYTE / 4))).toBe(true)
  expect(isKept(`${'€'.repeat(MEBIBYTE / 3)}€`)).toBe(false)
})
