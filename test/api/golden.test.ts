/**
 * The golden matrix: requests of every dialect for upstreams of every other dialect, and their answers, whole and
 * streamed. `UPDATE_GOLDEN=1` writes the files. Read the diff before you commit it.
 */
import { afterAll, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientDialects, type ClientDialect, type Reply } from '../../src/domain/turn.ts'
import type { AnswerFacts, ClientRequest, AdapterContext } from '../../src/formats/core/contract.ts'
import {
  answers,
  destination,
  encode,
  eventsOf,
  GOLDEN,
  linesOfReply,
  linesOfTurn,
  quirks,
  readClient,
  replyOf,
  replyOfStream,
  sourceText,
  turnOf,
  type AnswerName,
} from '../support/dialect-fixtures.ts'

const isUpdate = process.env['UPDATE_GOLDEN'] === '1'
const context = { model: { kind: 'text' } } as AdapterContext // Only images look further.
const answer: AnswerFacts = {
  requestId: `req_${'0'.repeat(20)}golden`,
  createdAtMs: 1_790_000_000_000,
  publicModel: 'public',
}
const nothing = { inputFresh: 0, inputCached: 0, cacheWrite5m: 0, cacheWrite1h: 0, outputText: 0, outputReasoning: 0 }

beforeAll(() => void setSystemTime(new Date(answer.createdAtMs + 2_000)))
afterAll(() => void setSystemTime())

/** Lines of a text that the other lacks, and the reverse. */
function changes(before: readonly string[], after: readonly string[]): { lost: string[]; gained: string[] } {
  const without = (lines: readonly string[], others: readonly string[]): string[] => {
    const left = [...others]
    return lines.filter((line) => {
      const at = left.indexOf(line)
      if (at !== -1) left.splice(at, 1)
      return at === -1
    })
  }
  return { lost: without(before, after), gained: without(after, before) }
}

function expectGolden(file: string, text: string): void {
  const path = join(GOLDEN, file)
  if (isUpdate) writeFileSync(path, text)
  expect(existsSync(path) ? readFileSync(path, 'utf8') : `${file} is missing: UPDATE_GOLDEN=1`).toBe(text)
}

/** By what a turn calls them, the names under which a client is told of wishes that could not be passed on. */
const toldAs: Readonly<Record<string, string>> = {
  effort: 'reasoning_effort',
  verbosity: 'verbosity',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  user: 'user',
}

/** Lines that are gone without a word to the client. */
function silentlyLost({ lost, gained }: { lost: string[]; gained: string[] }, dropped: readonly string[]): string[] {
  return lost.filter((line) => {
    const [head = '', ...rest] = line.split(' ')
    const part = parseObject(rest.join(' '))
    const { kind, cache, isError, detail, sealed } = (part ?? {}) as Record<string, unknown>
    const names: (string | undefined)[] = part ? [] : [toldAs[head]]
    if (head === 'parallelToolCalls' && line.endsWith('false')) names.push('parallel_tool_calls')
    if (kind === 'reasoning' || sealed !== undefined) names.push('reasoning')
    if (cache !== undefined) names.push('cache_control')
    if (isError !== undefined && !gained.some((other) => other.includes('"isError":true'))) names.push('is_error')
    if (detail !== undefined) names.push('detail')
    return names.some((name) => name !== undefined && !dropped.includes(name))
  })
}

function parseObject(text: string): object | undefined {
  return text.startsWith('{') ? (JSON.parse(text) as object) : undefined
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The fixture of a client that has no custom tools, for upstreams that cannot have them. */
function withoutCustomTools(text: string): string {
  const { input, tools, ...rest } = JSON.parse(text) as { input: { type: string }[]; tools: { type: string }[] }
  const plain = ({ type }: { type: string }): boolean => !(type ?? '').startsWith('custom')
  return JSON.stringify({ ...rest, input: input.filter(plain), tools: tools.filter(plain) })
}

type Case = { readonly client: ClientDialect; readonly upstream: ClientDialect }
/** Within a dialect nothing is translated, but for responses, whose conversations are the gateway's. */
const cases: Case[] = clientDialects.flatMap((client) =>
  clientDialects.flatMap((upstream) => (client === upstream && client !== 'responses' ? [] : [{ client, upstream }])),
)

async function clientOf({ client, upstream }: Case, mode: 'whole' | 'stream'): Promise<ClientRequest> {
  const request = await readClient(client, sourceText(client, 'request.json'), mode)
  if (!request.adapter([upstream], context).obstacle) return request
  return readClient(client, withoutCustomTools(sourceText(client, 'request.json')), mode)
}

describe.each(cases)('a $client client before a $upstream upstream', ({ client, upstream }) => {
  const pair = { client, upstream }
  const source = sourceText(client, 'request.json')
  const outputTokensMax = (JSON.parse(source) as { max_tokens?: number }).max_tokens ?? 300

  test('its request, and what was lost on the way', async () => {
    const refused = (await readClient(client, source, 'whole')).adapter([upstream], context).obstacle
    const asked = refused ? withoutCustomTools(source) : source
    const written = (await clientOf(pair, 'whole'))
      .adapter([upstream], context)
      .request(destination(upstream, outputTokensMax))
    const { path, headers, dropped, body } = written
    const streamed = (await clientOf(pair, 'stream'))
      .adapter([upstream], context)
      .request(destination(upstream, outputTokensMax))
    const before = turnOf(client, asked)
    const arrived = turnOf(upstream, body)
    expect(silentlyLost(changes(linesOfTurn(before), linesOfTurn(arrived)), dropped)).toEqual([])
    const back = await readClient(upstream, body, 'whole')
    const returned =
      client === upstream ? undefined : back.adapter([client], context).request(destination(client, outputTokensMax))
    expectGolden(
      `${client}-to-${upstream}.request.json`,
      pretty({
        ...(refused ? { refused, withoutCustomTools: true } : {}),
        path,
        headers,
        dropped,
        changed: changes(linesOfTurn(before), linesOfTurn(arrived)),
        body: JSON.parse(body) as unknown,
        streamed: { path: streamed.path, ...differing(body, streamed.body) },
        ...(returned
          ? {
              back: {
                dropped: returned.dropped,
                changed: changes(linesOfTurn(before), linesOfTurn(turnOf(client, returned.body))),
              },
            }
          : {}),
      }),
    )
  })

  test('the upstream’s whole answers', async () => {
    const golden: Record<string, unknown> = {}
    for (const name of answers) {
      const text = sourceText(upstream, `${name}.json`)
      const request = await clientOf(pair, 'whole')
      const read = await request.adapter([upstream], context).readReply(text, quirks)
      if (read.kind === 'failed') {
        golden[name] = { failure: read.failure, client: request.failures.write({ kind: 'internal', message: '' }) }
        continue
      }
      const reply = read.reply.write(answer, read.reply.usage ?? nothing)
      golden[name] = { changed: changesOfReply(pair, { name, whole: reply }), reply: JSON.parse(reply) as unknown }
    }
    expectGolden(`${client}-from-${upstream}.replies.json`, pretty(golden))
  })

  test('the upstream’s streams, which tell the same as its whole answers', async () => {
    let golden = ''
    for (const name of answers) {
      const text = await streamed(pair, [encode(sourceText(upstream, `${name}.sse`))], name)
      const changed = changesOfReply(pair, { name, stream: text })
      golden += `=== ${name}\n=== changed: ${pretty(changed)}\n${text}`
    }
    expectGolden(`${client}-from-${upstream}.streams.txt`, golden)
  })

  test.each(answers)('the stream %s, byte by byte', async (name) => {
    const bytes = encode(sourceText(upstream, `${name}.sse`))
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
    expect(await streamed(pair, single, name)).toBe(await streamed(pair, [bytes], name))
  })
})

describe.each(clientDialects)('streams of %s', (dialect) => {
  test.each(answers)('%s, cut at every byte, has the same events', (name) => {
    const bytes = encode(sourceText(dialect, `${name}.sse`))
    const whole = JSON.stringify(eventsOf([bytes]))
    for (let at = 1; at < bytes.length; at++) {
      const events = eventsOf([bytes.subarray(0, at), bytes.subarray(at)])
      if (JSON.stringify(events) !== whole) expect(`cut at ${at}: ${JSON.stringify(events)}`).toBe(whole)
    }
  })

  test.each(answers)('%s tells what the whole answer tells', (name) => {
    const turn = turnOf(dialect, sourceText(dialect, 'request.json'))
    const whole = replyOf(dialect, sourceText(dialect, `${name}.json`), turn)
    const stream = replyOfStream(dialect, eventsOf([encode(sourceText(dialect, `${name}.sse`))]), turn)
    expect(linesOfReply(stream).map(respaced)).toEqual(linesOfReply(whole).map(respaced))
  })
})

/** Arguments may be spelt with other white space in a stream than in a reply; summaries are joined by line breaks. */
const respaced = (line: string): string => line.replaceAll('\\n', ' ').replaceAll(/(?<=[:,]) (?=\\")/g, '')

/** The fields of the streamed body that the whole one has otherwise. */
function differing(whole: string, stream: string): object {
  const before = JSON.parse(whole) as Record<string, unknown>
  const after = Object.entries(JSON.parse(stream) as object)
  return Object.fromEntries(after.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}

async function streamed(pair: Case, chunks: readonly Uint8Array[], name: AnswerName): Promise<string> {
  const stream = (await clientOf(pair, 'stream')).adapter([pair.upstream], context).openStream(answer, quirks)
  let text = ''
  for (const event of eventsOf(chunks)) {
    const read = stream.read(event)
    if (read.kind === 'failed') throw new Error(`${name}: ${JSON.stringify(read.failure)}`)
    if (read.kind === 'done') break
    text += read.text
  }
  expect(stream.finished).toBe(true)
  return text + stream.end(stream.usage ?? nothing)
}

type HttpAnswer = { readonly name: AnswerName; readonly whole?: string; readonly stream?: string }

/** What the client can read of an answer, against what its upstream said. */
function changesOfReply({ client, upstream }: Case, { name, whole, stream }: HttpAnswer): object {
  const asked = turnOf(upstream, sourceText(upstream, 'request.json'))
  const said = replyOf(upstream, sourceText(upstream, `${name}.json`), asked)
  const asking = turnOf(client, sourceText(client, 'request.json'))
  const heard: Reply =
    stream === undefined
      ? replyOf(client, whole ?? '', asking)
      : replyOfStream(client, eventsOf([encode(stream)]), asking)
  return changes(linesOfReply(said).map(respaced), linesOfReply(heard).map(respaced))
}
