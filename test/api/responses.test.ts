/** `/v1/responses` over real sockets with plain requests: what is stored, who can read it, and what it costs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  freshFolder,
  INSTANCES,
  startGateway,
  startSandboxProcess,
  type TestGateway,
  type TestSandbox,
} from '../support/gateway.ts'
import { expectStream, responseSchema, type ShownResponse } from '../support/response-events.ts'
import { holdsEnded, storedRows } from '../support/stored.ts'
import {
  create,
  failure,
  joined,
  made,
  send,
  streamed,
  textOf,
  yamlOf,
  type Member,
  type Who,
} from '../support/speaker.ts'

let sandbox: TestSandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = await startSandboxProcess()
  gateway = await startGateway({ yaml: yamlOf(sandbox.baseUrl), env: { TOLLGATE_HEARTBEAT_MS: '150' } })
}, 30_000)
afterAll(async () => {
  await gateway.close()
  await sandbox.stop()
})

const member = (limits: object = {}): Promise<Member> => joined(gateway, limits)

describe('answers', () => {
  test('whole and streamed are the same object, every documented field in it, and are got again as they were', async () => {
    const who = await member()
    const body = {
      input: 'Say exactly: Grüße, 世界! 👩‍👩‍👧',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      max_output_tokens: 40,
      temperature: 0.5,
      safety_identifier: 'me',
      tools: [{ type: 'function', name: 'look' }],
      tool_choice: 'none',
    }
    const [whole, live] = [await made(who, body), await streamed(who, body)]
    expect(textOf(whole)).toBe('Grüße, 世界! 👩‍👩‍👧')
    const plain = { id: '', created_at: 0, completed_at: 0, output: [] }
    expect({ ...whole, ...plain }).toEqual({ ...live, ...plain })
    expect(textOf(live)).toBe(textOf(whole))
    const { input: _, ...echoed } = body
    expect(whole).toMatchObject({ ...echoed, tools: [{ description: null, strict: null }] })
    for (const shown of [whole, live]) {
      expect(await (await send(who, `/responses/${shown.id}`)).json()).toEqual(shown)
    }
    const rows = await who.records(2)
    expect(rows.map(({ endpoint, outcome }) => [endpoint, outcome])).toEqual([
      ['responses', 'completed'],
      ['responses', 'completed'],
    ])
    expect(rows.map(({ id }) => id.replace('req_', 'resp_'))).toEqual([live.id, whole.id])
  })

  test('what the limit cuts off is incomplete, whole and streamed', async () => {
    const who = await member()
    for (const get of [made, streamed]) {
      const shown = await get(who, { input: 'write 100 tokens', max_output_tokens: 5 })
      expect(shown).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
      expect(shown.usage?.output_tokens).toBe(5)
      expect(shown.output.at(-1)?.status).toBe('incomplete')
    }
  })

  test('input as text, bare content, a mix, and items', async () => {
    const who = await member()
    const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
    const said = async (input: unknown): Promise<string> => textOf(await made(who, { input }))
    expect(await said([{ type: 'input_text', text: 'Say exactly: bare' }])).toBe('bare')
    expect(await said([{ type: 'text', text: 'What is this?' }, image])).toContain('1 image (image/png)')
    const mix = [
      { role: 'user', content: 'My name is Ada.' },
      { type: 'input_text', text: 'What is my name?' },
    ]
    expect(await said(mix)).toBe('Your name is Ada.')
    const { data } = (await (
      await send(who, `/responses/${(await made(who, { input: mix })).id}/input_items?order=asc`)
    ).json()) as { data: { role: string; content: object[] }[] }
    expect(data.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['user', 1],
    ])
  })

  test('what is not taken along is said', async () => {
    const who = await member()
    const answer = await create(who, { truncation: 'auto', max_tool_calls: 2, include: ['file_search_call.results'] })
    expect(answer.headers.get('x-tollgate-dropped')).toBe('max_tool_calls, truncation, include')
  })
})

test('a conversation in short, to go on from', async () => {
  const who = await member()
  const one = await made(who, { input: 'My name is Ada.' })
  const body = { model: 'plain', previous_response_id: one.id, input: [{ role: 'user', content: 'Say exactly: hi' }] }
  const answer = await send(who, '/responses/compact', { method: 'POST', body })
  const short = (await answer.json()) as {
    id: string
    object: string
    output: Record<string, unknown>[]
    usage: object
  }
  expect([answer.status, short.object]).toEqual([200, 'response.compaction'])
  expect(short.output.map(({ type, role }) => role ?? type)).toEqual(['user', 'user', 'compaction'])
  expect(short.usage).toMatchObject({ output_tokens: expect.any(Number) as number })
  // It is kept by its client alone, who goes on with what it got.
  expect((await send(who, `/responses/${short.id}`)).status).toBe(404)
  const next = await made(who, { input: [...short.output, { role: 'user', content: 'What is my name?' }] })
  expect(textOf(next)).toBe('Your name is Ada.')
  const record = { status: '200', endpoint: 'responses' }
  expect(await who.records(3)).toMatchObject([record, record, record])
})

describe('refusals name no field of another dialect', () => {
  test('not the one that a vendor of chat completions means', async () => {
    const who = await member()
    const text = { format: { type: 'json_schema', name: 'no name', schema: {} } }
    for (const stream of [false, true]) {
      expect(await failure(await create(who, { text, stream }))).toEqual([400, 'invalid_value', null])
    }
    expect(await who.records(2)).toMatchObject([{ charged: '0' }, { charged: '0' }])
  })

  test('nor ours', async () => {
    const input = [{ type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }]
    const refused = await create(await member(), { model: 'blind', input })
    expect(await failure(refused)).toEqual([400, 'model_not_supported', 'input'])
  })
})

describe('conversations', () => {
  test('remember, branch by branch; instructions are of one turn alone', async () => {
    const who = await member()
    const one = await made(who, { input: 'My name is Ada.', instructions: 'Be brief.' })
    const two = await streamed(who, { input: 'My colour is blue.', previous_response_id: one.id })
    const left = await made(who, { input: 'What is my colour?', previous_response_id: two.id })
    const right = await made(who, { input: 'What is my colour?', previous_response_id: one.id })
    expect(textOf(left)).toBe('Your colour is blue.')
    expect(textOf(right)).toBe('You have not told me your colour.')
    const name = await streamed(who, { input: 'What is my name?', previous_response_id: left.id })
    expect(textOf(name)).toBe('Your name is Ada.')
    expect([name.previous_response_id, name.instructions]).toEqual([left.id, null])
    expect((name.usage?.input_tokens ?? 0) > (left.usage?.input_tokens ?? 0)).toBe(true)
  })

  test('what was said before is part of the quote', async () => {
    const who = await member()
    const first = await create(who, { input: `Say exactly: ok. ${'x '.repeat(5_000)}`, max_output_tokens: 10 })
    const { id } = (await first.json()) as ShownResponse
    const held = async (body: object): Promise<number> => {
      const answer = await create(who, { input: 'hi', max_output_tokens: 10, ...body })
      await answer.text()
      return Number(answer.headers.get('x-tollgate-held-usd'))
    }
    // 10,000 bytes at a dollar a million tokens.
    expect((await held({ previous_response_id: id })) - (await held({}))).toBeGreaterThan(0.01)
  })

  test('tools: a function and a custom one, called side by side, answered in the next turn', async () => {
    const who = await member()
    const tools = [
      {
        type: 'function',
        name: 'get_weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ]
    for (const get of [made, streamed]) {
      const asked = await get(who, { input: 'What is the weather in both Oslo and Rome?', tools })
      const calls = asked.output.filter((item) => item.type === 'function_call')
      expect(calls.map((call) => JSON.parse(call.arguments) as unknown)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }])
      const input = calls.map((call) => ({ type: 'function_call_output', call_id: call.call_id, output: '7 degrees' }))
      const told = await get(who, { input, previous_response_id: asked.id, tools })
      expect(textOf(told)).toContain('7 degrees')
      const custom = await get(who, {
        input: 'Say it.',
        tools: [{ type: 'custom', name: 'shell' }],
        tool_choice: { type: 'custom', name: 'shell' },
      })
      const [call] = custom.output
      expect(call).toMatchObject({ type: 'custom_tool_call', name: 'shell', status: 'completed' })
      const output = {
        type: 'custom_tool_call_output',
        call_id: call && 'call_id' in call && call.call_id,
        output: 'done',
      }
      expect(textOf(await get(who, { input: [output], previous_response_id: custom.id }))).toContain('done')
    }
  })

  test('items may be named instead of sent again', async () => {
    const [who, other] = [await member(), await member()]
    const one = await made(who, { input: 'Say exactly: My name is Ada.' })
    const reference = { type: 'item_reference', id: one.output[0]?.id }
    const input = [
      { role: 'user', content: 'My name is Ada.' },
      reference,
      { role: 'user', content: 'What is my name?' },
    ]
    expect(textOf(await made(who, { input }))).toBe('Your name is Ada.')
    const refused = await create(other, { input })
    expect(await failure(refused)).toEqual([400, 'invalid_value', 'input[1].id'])
  })

  test('store: false leaves nothing behind', async () => {
    const who = await member()
    for (const get of [made, streamed]) {
      const shown = await get(who, { input: 'My name is Ada.', store: false })
      expect(shown.store).toBe(false)
      expect(await failure(await send(who, `/responses/${shown.id}`))).toEqual([404, 'not_found', null])
      const next = await create(who, { previous_response_id: shown.id })
      expect(await failure(next)).toEqual([400, 'previous_response_not_found', 'previous_response_id'])
    }
    expect(await who.records(2)).toHaveLength(2)
  })

  test('survive kill -9 exactly with their charge, and go on', async () => {
    const folder = freshFolder()
    const first = await startGateway({ folder, yaml: yamlOf(sandbox.baseUrl) })
    const who = { key: first.key, baseUrl: first.baseUrl }
    const one = await made(who, { input: 'My name is Ada.' })
    const two = await streamed(who, { input: 'My colour is blue.', previous_response_id: one.id })
    const lost = create(who, { model: 'slow', input: 'write 500 tokens', stream: true, previous_response_id: two.id })
    await (await lost).body?.getReader().read()
    await first.crash()
    const read = (query: string): Promise<{ id: string }[]> => storedRows(folder, query)
    const charged = await read("SELECT replace(id, 'req_', 'resp_') AS id FROM request_record ORDER BY id")
    const kept = await read('SELECT id FROM response ORDER BY id')
    expect(kept).toEqual(charged)
    expect(kept).toHaveLength(2)
    const second = await startGateway({ folder, yaml: yamlOf(sandbox.baseUrl) })
    const again = { key: first.key, baseUrl: second.baseUrl }
    expect(await (await send(again, `/responses/${two.id}`)).json()).toEqual(two)
    expect(textOf(await made(again, { input: 'What is my name?', previous_response_id: two.id }))).toBe(
      'Your name is Ada.',
    )
    await second.close()
  }, 60_000)
})

test('killed again and again under load: a turn is there exactly where its charge is, and no other', async () => {
  const folder = freshFolder()
  const options = { folder, yaml: yamlOf(sandbox.baseUrl) }
  const told = new Set<string>()
  const talk = async (who: Who, background: boolean): Promise<void> => {
    let previous: string | undefined
    try {
      for (let i = 0; ; i++) {
        const body = {
          previous_response_id: previous,
          max_output_tokens: 5,
          stream: !background && i % 2 === 0,
          background,
        }
        const text = await (await create(who, body)).text()
        const id = /resp_[0-9a-z]{36}/.exec(text)?.[0] ?? ''
        if (background) continue
        if (!text.endsWith('data: [DONE]\n\n') && !text.endsWith('}')) continue
        told.add(id)
        previous = id
      }
    } catch {
      return // It is dead, which is the point.
    }
  }
  for (let cycle = 0; cycle < 5; cycle++) {
    const one = await startGateway(options)
    const before = told.size
    const talking = Array.from({ length: 6 }, (_, i) => talk(one, i === 0))
    // On a busy machine it takes longer until there is something to lose.
    while (told.size < before + 5) await Bun.sleep(5)
    await Bun.sleep(Math.random() * 150)
    await one.crash()
    await Promise.all(talking)
  }
  const last = await startGateway(options)
  await holdsEnded(folder)
  type Kept = { id: string; parent_id: string | null; state: string }
  const kept = await storedRows<Kept>(folder, 'SELECT id, parent_id, state FROM response')
  const idsOf = async (source: string): Promise<Set<string>> => {
    const rows = await storedRows<{ id: string }>(folder, `SELECT replace(id, 'req_', 'resp_') AS id FROM ${source}`)
    return new Set(rows.map(({ id }) => id))
  }
  const paid = await idsOf('request_record WHERE charged > 0')
  const expired = await idsOf("hold WHERE state = 'expired'")
  // Those in the background are kept from their beginning: what died with the process is failed, and free.
  const lost = kept.filter(({ id }) => !paid.has(id))
  expect(lost.filter(({ id, state }) => !expired.has(id) || state !== 'ended')).toEqual([])
  expect([...paid].filter((id) => !kept.some((row) => row.id === id))).toEqual([])
  expect([...told].filter((id) => !paid.has(id))).toEqual([])
  expect(kept.filter(({ parent_id: parent }) => parent !== null && !paid.has(parent))).toEqual([])
  expect(told.size).toBeGreaterThan(20)
  await last.close()
}, 120_000)

describe('input items', () => {
  test('in pages, newest first unless asked otherwise, each with an id', async () => {
    const who = await member()
    const input = Array.from({ length: 45 }, (_, i) => ({ role: 'user', content: `line ${i}` }))
    const { id } = await made(who, { input })
    type Page = {
      data: { id: string; content: { text: string }[] }[]
      has_more: boolean
      first_id: string
      last_id: string
    }
    const page = async (query: string): Promise<Page> =>
      (await (await send(who, `/responses/${id}/input_items${query}`)).json()) as Page
    const lines = ({ data }: Page): string[] => data.map(({ content }) => content[0]?.text ?? '')
    const first = await page('')
    expect([first.data.length, first.has_more, lines(first)[0]]).toEqual([20, true, 'line 44'])
    expect([first.first_id, first.last_id]).toEqual([first.data[0]?.id ?? '', first.data.at(-1)?.id ?? ''])
    const last = await page(`?limit=100&after=${first.last_id}`)
    expect([last.data.length, last.has_more, lines(last).at(-1)]).toEqual([25, false, 'line 0'])
    expect(lines(await page('?order=asc&limit=1'))).toEqual(['line 0'])
    expect(new Set([...first.data, ...last.data].map((item) => item.id)).size).toBe(45)
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
      ['order=up', 'order'],
      ['after=nobody', 'after'],
    ]) {
      const refused = await send(who, `/responses/${id}/input_items?${query}`)
      expect(await failure(refused)).toEqual([400, 'invalid_value', param ?? ''])
    }
  })
})

describe('whose they are', () => {
  const routes: [string, string, object?][] = [
    ['GET', ''],
    ['GET', '?stream=true&starting_after=2'],
    ['GET', '/input_items'],
    ['GET', '/input_items?limit=3&order=asc&after=x'],
    ['POST', '/cancel'],
    ['DELETE', ''],
  ]

  test('an id of another account is answered byte by byte like a deleted one, and one that never was', async () => {
    const [who, other] = [await member(), await member()]
    const deleted = (await made(who, {})).id
    expect((await send(who, `/responses/${deleted}`, { method: 'DELETE' })).status).toBe(200)
    for (const background of [false, true]) {
      const theirs = (await made(other, { background })).id
      const garbage = ['resp_01m7zh4vfyaqznjycpdm614pv0', 'resp_', 'x', '%00', "'; --", 'a'.repeat(2_000)]
      const ids = [theirs, deleted, ...garbage.map(encodeURIComponent)]
      for (const [method, part] of routes) {
        const seen = new Set<string>()
        for (const id of ids) {
          const answer = await send(who, `/responses/${id}${part}`, { method })
          const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
          seen.add(JSON.stringify([answer.status, headers, await answer.text()]))
        }
        expect([method, part, [...seen]]).toEqual([
          method,
          part,
          [expect.stringContaining('There is no response') as string],
        ])
      }
      for (const path of ['/responses', '/responses/input_tokens']) {
        const seen = new Set<string>()
        for (const id of [theirs, deleted, ...garbage]) {
          const body = { model: 'plain', input: 'x', previous_response_id: id }
          const answer = await send(who, path, { method: 'POST', body })
          seen.add(`${answer.status} ${await answer.text()}`)
        }
        expect([...seen]).toEqual([expect.stringContaining('previous_response_not_found') as string])
      }
      expect((await send(other, `/responses/${theirs}`)).status).toBe(200)
      expect((await send(other, `/responses/${theirs}`, { method: 'DELETE' })).status).toBe(200)
    }
  })

  test('without a key there is nothing to learn', async () => {
    const who = await member()
    const { id } = await made(who, {})
    for (const [method, part] of routes) {
      const answer = await send({ ...who, key: 'sk-tg-none' }, `/responses/${id}${part}`, { method })
      expect(await failure(answer)).toEqual([401, 'invalid_api_key', null])
    }
    expect((await send(who, `/responses/${id}`, { method: 'PATCH' })).headers.get('allow')).toBe('GET, HEAD, DELETE')
    expect((await send(who, `/responses/${id}/nothing`)).status).toBe(404)
  })
})

describe('what costs nothing', () => {
  test('works without a balance, and is counted apart; the count is what would be charged', async () => {
    const who = await member({ limits: { requests_per_minute: 6 } })
    const { id, usage } = await made(who, { model: 'no-usage', input: 'The quick brown fox jumps over the dog.' })
    const { posted_nano_usd: posted } = await gateway.operate<{ posted_nano_usd: string }>('account.show', {
      account: who.account,
    })
    const amount = (Number(posted) / 1e9).toFixed(9)
    await gateway.operate('account.debit', { account: who.account, amount, ref: `empty-${id}`, reason: 'test' })
    const count = (body: object): Promise<Response> => send(who, '/responses/input_tokens', { method: 'POST', body })
    for (let i = 0; i < 5; i++) {
      expect((await send(who, `/responses/${id}`)).status).toBe(200)
      expect((await send(who, `/responses/${id}/input_items`)).status).toBe(200)
      const body = { model: 'plain', input: 'The quick brown fox jumps over the dog.' }
      const counted = await count(body)
      expect(await counted.json()).toEqual({ object: 'response.input_tokens', input_tokens: usage?.input_tokens })
    }
    const more = { input: 'and?', previous_response_id: id }
    const longer = (await (await count(more)).json()) as { input_tokens: number }
    // Each instance counts what is free alone.
    for (let i = 1; i < INSTANCES; i++) for (let j = 0; j < 6; j++) await count(more)
    const counted = await count(more)
    expect(await failure(counted)).toEqual([429, 'rate_limit_exceeded', null])
    expect(longer.input_tokens).toBeGreaterThan((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0))
    expect(await failure(await create(who, {}))).toEqual([401, 'insufficient_balance', null])
    expect((await send(who, `/responses/${id}`, { method: 'DELETE' })).status).toBe(200)
  })
})

describe('answers that do not end well', () => {
  test('a vendor that fails is a status and leaves nothing; a stream that breaks is kept as failed, with its charge', async () => {
    const who = await member()
    expect(await failure(await create(who, { model: 'failing' }))).toEqual([502, 'upstream_error', null])
    expect(await failure(await create(who, { model: 'failing', stream: true }))).toEqual([502, 'upstream_error', null])
    const events = expectStream(
      await (await create(who, { model: 'cut', input: 'write 300 tokens', stream: true })).text(),
    )
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    expect(events.at(-2)).toMatchObject({
      code: 'upstream_error',
      error: { code: 'upstream_error', type: 'upstream_error' },
    })
    const shown = events.at(-1)?.['response'] as ShownResponse
    expect(shown).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
      output: [{ status: 'incomplete' }],
    })
    expect(await (await send(who, `/responses/${shown.id}`)).json()).toEqual(shown)
    const rows = await who.records(3)
    expect(rows.map(({ outcome, charged }) => [outcome, charged !== '0'])).toEqual([
      ['cut', true],
      ['failed', false],
      ['failed', false],
    ])
    const next = await made(who, { input: 'What did I say?', previous_response_id: shown.id })
    expect(textOf(next)).toContain('write 300 tokens')
  })

  test.each([true, false])(
    'a client that hangs up pays what arrived, and that is what is kept (stream: %p)',
    async (stream) => {
      const who = await member()
      const leaving = new AbortController()
      const body = { model: stream ? 'slow' : 'stuck', input: 'write 500 tokens', stream }
      const asked = create(who, body, { signal: leaving.signal }).catch(() => undefined)
      if (stream) await (await asked)?.body?.getReader().read()
      await Bun.sleep(200)
      leaving.abort()
      const [row] = await who.records(1)
      expect(row?.outcome).toBe('client_closed')
      expect(row?.charged).not.toBe('0')
      const shown = responseSchema.parse(
        await (await send(who, `/responses/${row?.id.replace('req_', 'resp_')}`)).json(),
      )
      expect(shown.status).toBe('failed')
      expect(textOf(shown) === '').toBe(!stream)
    },
  )

  test('a stream that fails after its headers says so in the band, is kept as failed, and is free', async () => {
    const who = await member()
    const answer = await create(who, { model: 'late-failing', stream: true })
    expect(answer.status).toBe(200)
    const events = expectStream(await answer.text())
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ])
    const shown = events.at(-1)?.['response'] as ShownResponse
    expect(await (await send(who, `/responses/${shown.id}`)).json()).toEqual(shown)
    const [row] = await who.records(1)
    expect(row).toMatchObject({ outcome: 'failed', charged: '0' })
  })

  test('an Idempotency-Key: one execution, one charge, one turn', async () => {
    const who = await member()
    const headers = { 'idempotency-key': 'same' }
    const texts = []
    for (let i = 0; i < 3; i++) texts.push(await (await create(who, { input: 'hi' }, { headers })).text())
    expect(new Set(texts).size).toBe(1)
    const stream = { 'idempotency-key': 'stream' }
    const streamed = (): Promise<Response> => create(who, { stream: true, truncation: 'auto' }, { headers: stream })
    const first = await streamed()
    const once = await first.text()
    const again = await streamed()
    expect(await again.text()).toBe(once)
    expectStream(once)
    const dropped = [first, again].map(({ headers: given }) => given.get('x-tollgate-dropped'))
    expect(dropped).toEqual(['truncation', 'truncation'])
    expect(await who.records(2)).toHaveLength(2)
  })

  test('limits and rights as for any other request', async () => {
    const limited = await member({ models: ['slow'] })
    expect(await failure(await create(limited, {}))).toEqual([403, 'model_not_allowed', 'model'])
    expect(await failure(await create(limited, { model: 'nobody' }))).toEqual([404, 'model_not_found', 'model'])
    const rare = await member({ limits: { requests_per_minute: 1 } })
    await made(rare, {})
    expect((await failure(await create(rare, {})))[1]).toBe('rate_limit_exceeded')
  })
})
