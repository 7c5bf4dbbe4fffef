/** The end of a server: nothing that was sent to its port is lost. */
import { afterEach, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { rawClient } from '../../test/support/raw-client.ts'
import type { ServerExchange } from './exchange.ts'
import { listen, type Server } from './server.ts'

const errors: Error[] = []
let server: Server | undefined

afterEach(() => {
  server?.close()
  expect(errors.splice(0)).toEqual([])
})

function start(handle: (exchange: ServerExchange) => void): Server {
  const refuse = () => ({ headers: {}, body: '' })
  server = listen({ hostname: '127.0.0.1', port: 0, handle, refuse, onError: (error) => errors.push(error) })
  return server
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

/** Connects a process of its own to a port five times and prints what it got: the answers, or the errors. */
const strangers = (port: number): Bun.Subprocess<'ignore', 'pipe', 'inherit'> => {
  const program = `
    const ask = () => new Promise((resolve) => {
      const socket = require('node:net').connect(${port}, '127.0.0.1', () => socket.write('GET /late HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'))
      let text = ''
      socket.on('data', (bytes) => (text += bytes)).on('error', resolve).on('end', () => resolve(text.slice(-5)))
    })
    Promise.all([ask(), ask(), ask(), ask(), ask()]).then((all) => console.log(all.join(' ')))`
  return Bun.spawn([process.execPath, '-e', program], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
}

test('retire answers the connections in the backlog before it closes the port', async () => {
  const server = start((exchange) => exchange.reply(200, {}, exchange.head.path))
  const child = strangers(server.port)
  // This thread accepts nothing until they have all connected.
  const port = server.port.toString(16).toUpperCase().padStart(4, '0')
  const isFull = (): boolean =>
    readFileSync('/proc/net/tcp', 'latin1')
      .split('\n')
      .filter((line) => line.includes(`:${port} `) && line.includes(' 01 ')).length >= 10
  if (process.platform === 'linux') for (let i = 0; i < 500 && !isFull(); i++) Bun.sleepSync(10)
  await server.retire()
  expect(await child.stdout.text()).toBe('/late /late /late /late /late\n')
  expect(await rawClient(server.port).catch((error: Error) => error)).toBeInstanceOf(Error)
})

test('a connection that was not told of the end brings one more request', async () => {
  let begun: ServerExchange | undefined
  const server = start((exchange) => {
    if (exchange.head.path !== '/begun') return exchange.reply(200, {}, 'one more')
    begun = exchange
    exchange.begin(200, {})
    exchange.send('begun')
  })
  const client = await rawClient(server.port)
  await client.send(get('/begun')).has('begun')
  await server.retire()
  let isQuiet = false
  const quiet = server.quiet(5_000).then(() => (isQuiet = true))
  begun?.end()
  await client.has('0\r\n\r\n')
  expect(isQuiet).toBe(false)
  expect(await client.send(get('/')).ended()).toMatch(/connection: close\r\n\r\none more$/)
  expect(client.ending).toBe('fin')
  await quiet
  // And it does not wait for one for long.
  expect(await server.quiet(5_000)).toBeUndefined()
})

test('an idle connection may bring its last request for as long as the balancer needs', async () => {
  const server = start((exchange) => exchange.reply(200, {}, 'last'))
  const clients = await Promise.all([rawClient(server.port), rawClient(server.port)])
  for (const client of clients) await client.send(get('/')).has('last')
  await server.retire(60_000)
  await Bun.sleep(400)
  const [used, idle] = clients
  expect(await used?.send(get('/')).ended()).toMatch(/connection: close\r\n\r\nlast$/)
  expect(idle?.ending).toBe('open')
})
