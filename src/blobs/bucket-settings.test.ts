import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readS3Settings } from './bucket-settings.ts'

const whole = {
  TOLLGATE_S3_ENDPOINT: 'http://10.0.0.7:9000',
  TOLLGATE_S3_BUCKET: 'files',
  TOLLGATE_S3_ACCESS_KEY_ID: 'AKID',
  TOLLGATE_S3_SECRET_ACCESS_KEY: 'the-secret',
}
const messageOf = (env: Record<string, string>): string => {
  const read = readS3Settings({ ...whole, ...env })
  return read.kind === 'bad' ? read.message : 'good'
}

test('the endpoint may be private, and what is left out has a default', () => {
  expect(readS3Settings(whole)).toEqual({
    kind: 'set',
    settings: {
      endpoint: 'http://10.0.0.7:9000',
      bucket: 'files',
      region: 'us-east-1',
      accessKeyId: 'AKID',
      secretAccessKey: 'the-secret',
      prefix: '',
      style: 'path',
    },
  })
  const more = { TOLLGATE_S3_PREFIX: 'tollgate/prod', TOLLGATE_S3_PATH_STYLE: 'off', TOLLGATE_S3_REGION: 'eu-1' }
  const read = readS3Settings({ ...whole, ...more, TOLLGATE_S3_ENDPOINT: 'https://s3.example.com/' })
  expect(read).toMatchObject({
    settings: { endpoint: 'https://s3.example.com', prefix: 'tollgate/prod/', style: 'host', region: 'eu-1' },
  })
})

test('each half of a configuration is refused with the names that are missing', () => {
  for (const name of Object.keys(whole)) expect(messageOf({ [name]: '' })).toContain(name)
  const alone = readS3Settings({ TOLLGATE_S3_PREFIX: 'a' })
  for (const name of Object.keys(whole)) expect(JSON.stringify(alone)).toContain(name)
})

test('the secret may be in a file, and not in two places', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-s3-'))
  const file = join(folder, 'secret')
  const inFile = { TOLLGATE_S3_SECRET_ACCESS_KEY: '', TOLLGATE_S3_SECRET_ACCESS_KEY_FILE: file }
  try {
    expect(messageOf(inFile)).toContain('cannot be read (ENOENT)')
    writeFileSync(file, '\n')
    expect(messageOf(inFile)).toContain('is empty')
    writeFileSync(file, 'from-the-file\n')
    expect(readS3Settings({ ...whole, ...inFile })).toMatchObject({ settings: { secretAccessKey: 'from-the-file' } })
    expect(messageOf({ TOLLGATE_S3_SECRET_ACCESS_KEY_FILE: file })).toContain('not both')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a value that cannot be right is named, and the secret never is', () => {
  const faults: readonly [Record<string, string>, string][] = [
    [{ TOLLGATE_S3_ENDPOINT: 'files.example.com' }, 'must be an absolute http or https URL'],
    [{ TOLLGATE_S3_ENDPOINT: 'http://u:pass@files.example.com' }, 'must not hold credentials'],
    [{ TOLLGATE_S3_ENDPOINT: 'http://169.254.169.254' }, 'is at an address that is never called'],
    [{ TOLLGATE_S3_ENDPOINT: 'https://s3.example.com/bucket' }, 'must have no path'],
    [{ TOLLGATE_S3_BUCKET: 'a/b' }, 'TOLLGATE_S3_BUCKET'],
    [{ TOLLGATE_S3_REGION: 'eu west' }, 'TOLLGATE_S3_REGION'],
    [{ TOLLGATE_S3_ACCESS_KEY_ID: 'a\r\nb' }, 'TOLLGATE_S3_ACCESS_KEY_ID'],
    [{ TOLLGATE_S3_PREFIX: '../x' }, 'TOLLGATE_S3_PREFIX'],
    [{ TOLLGATE_S3_PREFIX: '/x' }, 'TOLLGATE_S3_PREFIX'],
    [{ TOLLGATE_S3_PREFIX: 'a//b' }, 'TOLLGATE_S3_PREFIX'],
    [{ TOLLGATE_S3_PATH_STYLE: 'yes' }, 'TOLLGATE_S3_PATH_STYLE'],
  ]
  for (const [env, words] of faults) {
    expect(messageOf(env)).toContain(words)
    expect(messageOf(env)).not.toContain('the-secret')
    expect(messageOf(env)).not.toContain('pass@')
  }
})
