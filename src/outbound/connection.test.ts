import { expect, test } from 'bun:test'
import type { Socket } from 'bun'
import { nextTurn } from '../lib/runtime/end-of-tick.ts'
import { fillWireBuffer } from '../lib/http/wire-buffer.ts'
import { ClientConnection } from './connection.ts'
import { ClientExchange, type OutboundResult } from './exchange.ts'

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
const UNASKED = Buffer.from('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n')

/** A connection on a socket that takes everything, and a record of both. */
function connected() {
  const wrote: string[] = []
  const idle: ClientConnection[] = []
  let isOpen = true
  const socket = {
    write: (bytes: Buffer, from: number, length: number) => {
      wrote.push(bytes.toString('latin1', from, from + length))
      return length
    },
    terminate: () => void (isOpen = false),
  }
  const home = { put: (one: ClientConnection) => void idle.push(one), watch: () => undefined, forget: () => undefined }
  const connection = new ClientConnection({ home, security: 'plain', onReady: () => undefined })
  connection.opened(socket as unknown as Socket<ClientConnection>)
  return { connection, wrote, idle, isOpen: () => isOpen }
}

function request(name: string) {
  const head = `POST /${name} HTTP/1.1\r\ncontent-length: ${name.length}\r\n\r\n`
  const results: OutboundResult[] = []
  const elsewhere: ClientExchange[] = []
  const take = (result: OutboundResult): void => {
    results.push(result)
    if (result.kind === 'response') result.response.deliver({ part() {}, end() {}, broken() {} })
  }
  const written = { method: 'POST', head, body: name, bytes: head.length + name.length }
  const exchange = new ClientExchange(written, { take }, { connectFor: (one) => void elsewhere.push(one) })
  return { exchange, results, elsewhere, text: head + name }
}

test('a request is written whole at the end of the tick, and nothing else is written', async () => {
  const { connection, wrote, idle } = connected()
  fillWireBuffer(['what another connection wrote before, which is longer than the request that comes now'.repeat(5)])
  const [one, two] = [request('one'), request('the-second')]
  for (const { exchange, text, results } of [one, two]) {
    exchange.start(connection)
    await nextTurn()
    expect(wrote.splice(0)).toEqual([text])
    connection.data(ANSWER)
    expect(results).toMatchObject([{ kind: 'response', response: { status: 200 } }])
    expect(idle.splice(0)).toEqual([connection])
    connection.flush()
    expect(wrote).toEqual([])
  }
})

test('an answer that came before its request was sent is dropped, and the request uses another connection', async () => {
  const { connection, wrote, idle, isOpen } = connected()
  const [first, second] = [request('first'), request('second')]
  first.exchange.start(connection)
  await nextTurn()
  connection.data(ANSWER)
  expect([wrote.splice(0), idle.splice(0)]).toEqual([[first.text], [connection]])
  // The server closes the idle connection in the tick in which it is taken again.
  second.exchange.start(connection)
  connection.data(UNASKED)
  expect([isOpen(), idle, second.results, second.elsewhere]).toEqual([false, [], [], [second.exchange]])
  await nextTurn()
  expect(wrote).toEqual([])
  const fresh = connected()
  second.exchange.start(fresh.connection)
  await nextTurn()
  expect(fresh.wrote).toEqual([second.text])
})
