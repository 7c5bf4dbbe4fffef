import { afterEach, expect, test } from 'bun:test'
import { rawClient, type RawClient } from '../../test/support/raw-client.ts'
import type { BodyText } from './body-text.ts'
import type { ServerExchange } from './exchange.ts'
import { listen, type Server } from './server.ts'

const LIMITS = { bytesMax: 5, graceMs: 5_000, bytesPerSecondMin: 1e6 }
const describe = (body: BodyText | undefined): string =>
  body?.kind === 'read' ? `<${body.text}>` : (body?.kind ?? 'not at hand')

let server: Server
let client: RawClient
const problems: unknown[] = []

async function serve(
  handle: (exchange: ServerExchange) => void,
  waitFor?: (exchange: ServerExchange) => Promise<void> | undefined,
): Promise<void> {
  const refuse = ({ message }: { message: string }) => ({ headers: {}, body: message })
  const onError = (error: Error): unknown => problems.push(error)
  server = listen({ hostname: '127.0.0.1', port: 0, handle, waitFor, refuse, onError })
  client = await rawClient(server.port)
}

afterEach(() => {
  client.close()
  server.close()
  expect(problems.splice(0)).toEqual([])
})

const post = (body: string, ...headers: string[]): string =>
  ['POST / HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n')
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'
const answers = (): readonly string[] => client.text.match(/(?<=\n)(?:<.*?>|too_large)/g) ?? []

test('a body that came with its head is at hand, and no other body is', async () => {
  const atHand: string[] = []
  await serve((exchange) => {
    const body = exchange.textAtHand(LIMITS)
    atHand.push(describe(body))
    const answer = (read: BodyText): void => exchange.reply(200, {}, describe(read))
    if (!body) void exchange.readText(LIMITS).then(answer)
    else if (atHand.length % 2 === 0) answer(body)
    else setTimeout(answer, 5, body)
  })
  client.send(post('one') + post('two') + CHUNKED + post('four') + post(''))
  await client.until(({ statuses }) => statuses.length === 5)
  client.send(post('five').slice(0, -1))
  await client.until(() => atHand.length === 6)
  client.send(`e${post('too large')}`)
  await client.until(({ statuses }) => statuses.length === 7)
  const away = 'not at hand'
  expect(atHand).toEqual(['<one>', '<two>', away, '<four>', away, away, away])
  expect(answers()).toEqual(['<one>', '<two>', '<x>', '<four>', '<>', '<five>', 'too_large'])
})

test('it is available in the tick of its request, and can be read once', async () => {
  const found: string[] = []
  await serve((exchange) => {
    found.push(describe(exchange.textAtHand(LIMITS)), describe(exchange.textAtHand(LIMITS)))
    expect(() => exchange.readText(LIMITS)).toThrow('passed')
    expect(() => exchange.readPieces(LIMITS, () => undefined)).toThrow('passed')
    setTimeout(() => exchange.reply(200, {}, '<ok>'), 5)
  })
  client.send(post('one'))
  await client.until(({ statuses }) => statuses.length === 1)
  expect(found).toEqual(['<one>', 'not at hand'])
})

test('a client that announced to wait for 100 Continue and did not wait keeps its connection', async () => {
  await serve((exchange) => exchange.reply(200, {}, describe(exchange.textAtHand(LIMITS))))
  client.send(post('one', 'Expect: 100-continue') + post('two', 'Expect: 100-continue') + post('three'))
  await client.until(({ statuses }) => statuses.length === 3)
  expect(client.statuses).toEqual([200, 200, 200])
  expect(answers()).toEqual(['<one>', '<two>', '<three>'])
  expect(client.text).not.toContain('connection: close')
})

test('after an answer without reading the body, the next request is read', async () => {
  const seen: ServerExchange[] = []
  await serve((exchange) => {
    seen.push(exchange)
    exchange.reply(200, {}, `<${seen.length}>`)
  })
  client.send(post('one') + post('two'))
  await client.until(({ statuses }) => statuses.length === 2)
  expect(answers()).toEqual(['<1>', '<2>'])
  expect(seen.map((exchange) => describe(exchange.textAtHand(LIMITS)))).toEqual(['not at hand', 'not at hand'])
})

test('a request that waits before it is handled has its whole body afterwards, however it arrives', async () => {
  const order: string[] = []
  const passes: (() => void)[] = []
  const answer = async (exchange: ServerExchange): Promise<void> => {
    order.push('handled')
    const body = exchange.textAtHand(LIMITS) ?? (await exchange.readText(LIMITS))
    exchange.reply(200, {}, describe(body))
  }
  await serve(
    (exchange) => void answer(exchange),
    // Every other request waits.
    () => (order.push('asked') % 4 === 1 ? new Promise((resolve) => passes.push(resolve)) : undefined),
  )
  const pass = async (): Promise<void> => {
    await client.until(() => passes.length > 0)
    passes.shift()?.()
  }
  // The second one has been sent ahead.
  client.send(post('one') + post('two'))
  await Bun.sleep(20)
  expect(order).toEqual(['asked'])
  await pass()
  await client.until(({ statuses }) => statuses.length === 2)
  client.send(post('three').slice(0, -3))
  await Bun.sleep(20)
  client.send('re')
  await Bun.sleep(20)
  await pass()
  client.send(`e${post('four')}`)
  await client.until(({ statuses }) => statuses.length === 4)
  client.send(CHUNKED)
  await pass()
  await client.until(({ statuses }) => statuses.length === 5)
  client.send(post(''))
  await client.until(({ statuses }) => statuses.length === 6)
  client.send(post('', 'Expect: 100-continue'))
  await pass()
  await client.until(({ statuses }) => statuses.length === 7)
  expect(answers()).toEqual(['<one>', '<two>', '<three>', '<four>', '<x>', '<>', '<>'])
})

test('a client that leaves while its request waits is not answered, and nothing else breaks', async () => {
  const handled: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  await serve(
    (exchange) => {
      handled.push(exchange.head.path)
      exchange.reply(200, {}, '<ok>')
    },
    ({ head: { path } }) => (path === '/waits' ? promise : undefined),
  )
  const other = await rawClient(server.port)
  other.send(post('one').replace('POST /', 'POST /waits'))
  await Bun.sleep(20)
  other.close()
  await Bun.sleep(20)
  resolve()
  client.send(post('two'))
  await client.until(({ statuses }) => statuses.length === 1)
  expect(handled).toEqual(['/'])
})
