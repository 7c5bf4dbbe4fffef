/**
 * One contract for every vendor: agents of each dialect, whole and streamed, through three turns of tools, against a
 * fake that refuses what the real vendor refuses.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { clientDialects } from '../../src/domain/turn.ts'
import { presets } from '../../src/vendors/presets.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { codex, conversations, kept, LONG_TOOL, longNamed } from './clients.ts'
import { GEMINI_SEAL } from './refusals.ts'
import { ARGS, profiles, startVendor, type Vendor } from './fake.ts'

let gateway: TestGateway
const vendors: Vendor[] = []

beforeAll(async () => {
  vendors.push(...profiles.map((profile) => startVendor(profile)))
  const providers = profiles.map(({ preset, base, key = () => 'k' }, i) => {
    const origin = vendors[i]?.origin ?? ''
    return `  p${i}: { preset: ${preset}, base_url: '${origin + base}', key: '${key(origin)}', allow_private: true }`
  })
  const models = profiles.map(
    ({ model }, i) =>
      `  m${i}: { price: { input: 1, output: 2 }, output_tokens_max: 64000, offers: [{ provider: p${i}, model: '${model}' }] }`,
  )
  gateway = await startGateway({
    yaml: ['sandbox: false', 'providers:', ...providers, 'models:', ...models].join('\n'),
  })
})
afterAll(async () => {
  await gateway.close()
  for (const vendor of vendors) await vendor.stop()
})

test('every vendor of text has a fake', () => {
  const known = new Set(profiles.map(({ preset }) => preset))
  const others = ['sandbox', 'mediakit', 'vertex']
  expect(presets.map(({ id }) => id).filter((id) => !known.has(id) && !others.includes(id))).toEqual([])
})

const rows = profiles.map((profile, i) => [`${profile.preset} ${profile.model}`, i] as const)

const clients = [
  ...clientDialects.map((dialect) => [`a client of ${dialect}`, dialect, conversations[dialect]] as const),
  ['Codex', 'responses', codex] as const,
  ['a client with long names of tools', 'chat', longNamed] as const,
]

describe.each(rows)('%s', (_, i) => {
  for (const [name, dialect, begin] of clients) {
    for (const mode of ['whole', 'stream'] as const) {
      test(`${name}, ${mode}`, async () => {
        const conversation = begin(gateway, `m${i}`)
        const ask = async () => {
          const answer = await conversation.ask(mode === 'stream')
          expect({ ...answer, dialect: vendors[i]?.seen.at(-1)?.dialect }).toMatchObject({ status: 200 })
          return answer
        }
        const first = await ask()
        expect(first.calls.map(({ args }) => args.replaceAll(/\s/g, ''))).toEqual([ARGS[0], ARGS[1]])
        expect(new Set(first.calls.map(({ name }) => name)).size).toBe(1)
        if (begin === longNamed) expect(first.calls[0]?.name).toBe(LONG_TOOL)
        conversation.give(['result 1', 'result 2'])
        const second = await ask()
        expect(second.calls.map(({ args }) => args.replaceAll(/\s/g, ''))).toEqual([ARGS[2]])
        expect(second.text).toBe('Nearly there.')
        conversation.give(['result 3'])
        const third = await ask()
        expect(third).toMatchObject({ text: 'All done.', calls: [] })
        const asked = vendors[i]?.seen.at(-1)
        expect(JSON.stringify(asked?.body)).toContain('iVBORw0KGgo')
        // Clients of the chat format have no field that all of them send back.
        if (asked?.dialect !== 'gemini' || dialect === 'chat') return
        expect(JSON.stringify(asked.body)).toContain(`"thoughtSignature":"${GEMINI_SEAL}`)
        expect(JSON.stringify(asked.body)).not.toContain('skip_thought_signature_validator')
      })
    }
  }
})

/** One of each kind: of dialect, of ids, of thoughts that are wanted back, sealed or refused. */
const kinds = [
  ['openai', 'gpt-5.6-sol'],
  ['openai', 'gpt-4.1'],
  ['mistral', 'mistral-large-latest'],
  ['deepseek', 'deepseek-v4-pro'],
  ['moonshot', 'kimi-k2-thinking'],
  ['groq', 'openai/gpt-oss-120b'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['bedrock-converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['gemini', 'gemini-3-pro-preview'],
  ['custom-responses', 'gpt-5.5'],
].map(([preset, model]) => profiles.findIndex((profile) => profile.preset === preset && profile.model === model))

describe.each(Object.entries({ ...conversations, codex, kept, longNamed }))(
  'a conversation of %s that moves',
  (_, begin) => {
    test.each(kinds.map((i) => [`${profiles[i]?.preset} ${profiles[i]?.model}`, i] as const))(
      'from %s',
      async (__, from) => {
        for (const [n, to] of kinds.entries()) {
          const where = `to ${profiles[to]?.preset} ${profiles[to]?.model}`
          const conversation = begin(gateway, `m${from}`)
          const ask = async () => ({ where, ...(await conversation.ask(n % 2 === 0)) })
          expect(await ask()).toMatchObject({ status: 200 })
          conversation.give(['result 1', 'result 2'])
          conversation.model = `m${to}`
          expect(await ask()).toMatchObject({ status: 200, text: 'Nearly there.' })
          conversation.give(['result 3'])
          conversation.model = `m${from}`
          expect(await ask()).toMatchObject({ status: 200, text: 'All done.' })
        }
      },
    )
  },
)
