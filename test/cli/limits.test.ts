/** Commands can remove every setting that they can make. The word for it is always `none`. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, runJson } from '../support/command.ts'
import { freshFolder } from '../support/gateway.ts'

const folder = freshFolder()
const env = { MINE: 'gsk-nobody-calls', TOLLGATE_CONFIG: join(folder, 'tollgate.yaml') }
const operate = (line: string): Promise<unknown> => runJson(folder, line.split(' '), env)

beforeAll(async () => {
  await operate('init')
  await operate('provider add groq --key-env MINE')
  await operate('model add fast --price-input 1 --price-output 2 --offer groq/any --max-output 100')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('limits of a model', async () => {
  const set =
    '--context 9000 --default-output 90 --min-output 9 --image-tokens 99 --first-event-timeout 999 --routing cost --sticky off'
  expect(
    await operate(`model limits fast ${set} --dimensions 8 --adjustable-dimensions yes --pictures no`),
  ).toMatchObject({
    limits: {
      context_tokens: 9_000,
      output_tokens_max: 100,
      output_tokens_default: 90,
      output_tokens_min: 9,
      image_tokens_max: 99,
      first_event_timeout_ms: 999,
      dimensions: 8,
      dimensions_adjustable: true,
      picture_input: 'refused',
      routing: 'cost',
      sticky: 'off',
    },
  })
  const back = set.replaceAll(/\d+|cost|off/g, 'none').replace('--context none', '--max-output none')
  expect(await operate(`model limits fast ${back} --adjustable-dimensions none --pictures none`)).toMatchObject({
    limits: {
      context_tokens: 9_000,
      output_tokens_max: null,
      output_tokens_default: null,
      output_tokens_min: 256,
      image_tokens_max: 3_000,
      first_event_timeout_ms: 60_000,
      dimensions: 8,
      dimensions_adjustable: false,
      picture_input: 'taken',
      routing: 'weighted',
      sticky: 'named',
    },
  })
  const { out } = await runCommand(
    folder,
    ['model', 'limits', 'fast', '--context', 'none', '--dimensions', 'none'],
    env,
  )
  expect(out).toMatch(/\ncontext +none\nmax output +none\ndefault output +none\n[^]*\ndimensions +none\n/)
  expect(await operate('model limits nothing --context 1')).toMatchObject({ error: { code: 'not_found' } })
  expect(await operate('model limits sandbox-chat --context 1')).toMatchObject({ error: { code: 'declared' } })
})

test('that a provider may be at a private address', async () => {
  const add = 'provider add near --base-url http://localhost:9/v1'
  expect(await operate(`${add} --allow-private`)).toMatchObject({ allow_private: true })
  expect(await operate('provider add near')).toMatchObject({ allow_private: true })
  expect(await operate('provider add near --forbid-private')).toMatchObject({ error: { code: 'invalid_input' } })
  const elsewhere = 'provider add near --base-url https://models.example.com/v1'
  expect(await operate(`${elsewhere} --allow-private`)).toMatchObject({ allow_private: true })
  expect(await operate('provider add near --forbid-private')).toMatchObject({ allow_private: false })
})

test('how many requests a provider takes at once', async () => {
  const add = 'provider add gpu --base-url https://models.example.com/v1'
  expect(await operate(`${add} --concurrent 8`)).toMatchObject({ concurrent_requests: 8 })
  expect(await operate('provider add gpu --base-url https://other.example.com/v1')).toMatchObject({
    concurrent_requests: 8,
  })
  expect(await operate('provider add gpu --concurrent none')).toMatchObject({ concurrent_requests: null })
})

test('key and address of a provider', async () => {
  await operate('provider add groq --base-url https://mirror.example.com/v1 --key-env MINE')
  // The stored key is for the mirror.
  expect(await operate('provider add groq --base-url none')).toMatchObject({ error: { code: 'invalid_input' } })
  expect(await operate('provider add groq --base-url none --key-env MINE')).toMatchObject({
    base_url: 'https://api.groq.com/openai/v1',
    has_key: true,
  })
  expect(await operate('provider add groq --key none')).toMatchObject({
    base_url: 'https://api.groq.com/openai/v1',
    has_key: false,
  })
})
