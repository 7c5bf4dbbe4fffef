/** TLS of its own: real clients, renewed certificates, and files that cannot be used. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCommand, runJson } from '../support/command.ts'
import { chat, freshFolder, startGateway, type TestGateway } from '../support/gateway.ts'

/** The pairs are for localhost and its addresses, and valid until 2126. `other` is for other.example. */
const fixture = (name: string): string => resolve(import.meta.dir, '../fixtures/tls', name)
const ca = [fixture('ca.pem'), fixture('renewed.pem')].map((file) => readFileSync(file, 'utf8'))
const serialOf = (name: string): string => new X509Certificate(readFileSync(fixture(name))).serialNumber

const folder = freshFolder()
const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
const env = { TOLLGATE_TLS_CERT: files.cert, TOLLGATE_TLS_KEY: files.key }

/** Replaces a file by a rename, as programs that renew certificates do. */
function put(which: 'cert' | 'key', name: string): void {
  copyFileSync(fixture(name), `${files[which]}.new`)
  chmodSync(`${files[which]}.new`, 0o600)
  renameSync(`${files[which]}.new`, files[which])
}

describe('a gateway with TLS', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    put('cert', 'localhost.pem')
    put('key', 'localhost.key')
    gateway = await startGateway({ env })
  })
  afterAll(() => gateway.close())

  const logged = async (text: string): Promise<void> => {
    for (let i = 0; !gateway.output().includes(text); i++) {
      if (i > 200) throw new Error(`no ${text} in the log: ${gateway.output().slice(-1_000)}`)
      await Bun.sleep(50)
    }
  }

  test('names its address with https, and shows when the certificate expires', async () => {
    expect(gateway.baseUrl).toStartWith('https://127.0.0.1:')
    expect(gateway.output()).toContain(`${new URL(gateway.baseUrl).origin}/console/setup#`)
    const headers = { authorization: 'Bearer token-of-the-tests' }
    const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl), { headers, tls: { ca } })).text()
    const endS = Date.parse(new X509Certificate(readFileSync(fixture('localhost.pem'))).validTo) / 1_000
    expect(metrics).toContain(`\ntollgate_tls_certificate_expiry_timestamp_seconds ${endS}\n`)
  })

  test('tells a client of plain HTTP to use https', async () => {
    const answer = await chat({ ...gateway, baseUrl: gateway.baseUrl.replace('https', 'http') }, {})
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('This port speaks HTTPS: use https:// in the base URL.')
  })

  test('takes a renewed pair under load, and keeps the old one while the pair does not fit', async () => {
    const authorities = join(folder, 'authorities.pem')
    writeFileSync(authorities, ca.join(''))
    const port = new URL(gateway.baseUrl).port
    const clients = Bun.spawn(
      ['node', resolve(import.meta.dir, '../support/tls-clients.js'), `https://localhost:${port}`, gateway.key, '16'],
      { env: { PATH: process.env['PATH'] ?? '', NODE_EXTRA_CA_CERTS: authorities }, stdout: 'pipe', stderr: 'inherit' },
    )
    await Bun.sleep(1_000)
    put('cert', 'renewed.pem')
    await logged('"tls.unusable"')
    // Half of a file, as it is while it is written.
    writeFileSync(files.cert, readFileSync(fixture('renewed.pem'), 'utf8').slice(0, 300))
    await logged('has no certificate in PEM form')
    expect(gateway.output()).not.toContain('"tls.renewed"')
    put('cert', 'renewed.pem')
    put('key', 'renewed.key')
    await logged('"tls.renewed"')
    const { answers, faults, serials } = JSON.parse(await clients.stdout.text()) as {
      answers: Record<string, number>
      faults: string[]
      serials: string[]
    }
    expect(faults).toEqual([])
    expect(serials.toSorted()).toEqual([serialOf('localhost.pem'), serialOf('renewed.pem')].toSorted())
    for (const kind of ['fetch', 'kept', 'fresh']) expect(answers[kind]).toBeGreaterThan(10)
    expect(gateway.output()).not.toContain('PRIVATE KEY')
  }, 60_000)

  test('its commands reach it', async () => {
    const { code, out } = await runCommand(gateway.folder, ['chat', 'hello', '--model', 'sandbox-chat'], {
      ...env,
      TOLLGATE_API_KEY: gateway.key,
      NODE_EXTRA_CA_CERTS: join(folder, 'authorities.pem'),
    })
    expect(out).not.toBe('')
    expect(code).toBe(0)
  })

  test('doctor says when the certificate expires, and that others can read the key', async () => {
    const checks = async (): Promise<unknown> => {
      const { checks: all } = await runJson<{ checks: { name: string }[] }>(gateway.folder, ['doctor'], env)
      return all.filter(({ name }) => name.startsWith('tls'))
    }
    expect(await checks()).toEqual([
      { name: 'tls', state: 'ok', detail: expect.stringMatching(/for localhost, 127\.0\.0\.1.* expires on 2126-/) },
      { name: 'tls key', state: 'ok', detail: `${files.key}, mode 0600` },
    ])
    chmodSync(files.key, 0o644)
    expect(await checks()).toMatchObject([{ state: 'ok' }, { state: 'warn' }])
  })
})

describe('the start fails, and makes nothing', () => {
  const cut = join(folder, 'cut.pem')
  const encrypted = join(folder, 'encrypted.key')
  writeFileSync(cut, 'no certificate')
  writeFileSync(encrypted, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n')
  const [cert, key] = [fixture('localhost.pem'), fixture('localhost.key')]
  test.each([
    ['without a key', { TOLLGATE_TLS_CERT: cert }, 'set both TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY'],
    ['without a file', { TOLLGATE_TLS_CERT: '/nowhere.pem', TOLLGATE_TLS_KEY: key }, '/nowhere.pem does not exist'],
    ['with no certificate in it', { TOLLGATE_TLS_CERT: cut, TOLLGATE_TLS_KEY: key }, 'has no certificate in PEM form'],
    ['with no key in it', { TOLLGATE_TLS_CERT: cert, TOLLGATE_TLS_KEY: cut }, 'has no private key in PEM form'],
    ['with an encrypted key', { TOLLGATE_TLS_CERT: cert, TOLLGATE_TLS_KEY: encrypted }, 'it must have no passphrase'],
    [
      'with the key of another',
      { TOLLGATE_TLS_CERT: cert, TOLLGATE_TLS_KEY: fixture('other.key') },
      'does not belong to',
    ],
  ])('%s', async (_, wrong, message) => {
    const data = join(freshFolder(), 'data')
    const { code, err } = await runCommand(data, ['serve'], wrong)
    expect(err).toContain(message)
    expect(code).toBe(1)
    expect(existsSync(data)).toBe(false)
  })
})
