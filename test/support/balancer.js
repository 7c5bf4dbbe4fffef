// node balancer.js PORT…: a round-robin balancer of HTTP in front of gateways on these ports. It asks each for /readyz
// every 100 ms, as Caddy does with `health_uri`, and sends requests only to those that said 200. A request waits up to
// five seconds for one, as with Caddy's `lb_try_duration`. Connections to the gateways are kept. It never tries a
// request again: what a gateway fails, the client sees as a 502 or a cut answer.
// It prints its own port.
import { Agent, createServer, get, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const CHECK_MS = 100
const WAIT_MS = 5_000
const backends = process.argv
  .slice(2)
  .map((port) => ({ port, isReady: false, agent: new Agent({ keepAlive: true, maxFreeSockets: 64 }) }))
let turn = 0

/** The next gateway in turn that is ready. */
function next() {
  for (let i = 0; i < backends.length; i++) {
    const backend = backends[turn++ % backends.length]
    if (backend.isReady) return backend
  }
  return undefined
}

/** A gateway that is ready, or undefined if none is for a while. */
async function readyOne() {
  for (const endMs = Date.now() + WAIT_MS; Date.now() < endMs; await sleep(CHECK_MS / 2)) {
    const backend = next()
    if (backend) return backend
  }
  return undefined
}

const without = (headers, ...names) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))

function check(backend) {
  const asking = get({ port: backend.port, path: '/readyz', agent: false, timeout: 1_000 }, (answer) => {
    backend.isReady = answer.statusCode === 200
    answer.resume()
  })
  asking.on('timeout', () => asking.destroy())
  asking.on('error', () => (backend.isReady = false))
}

async function forward(incoming, outgoing) {
  const backend = await readyOne()
  if (!backend) return outgoing.writeHead(502).end('no gateway is ready')
  const { method, url: path, headers } = incoming
  const fail = ({ code }) => {
    if (outgoing.headersSent) return outgoing.destroy()
    outgoing.writeHead(502).end(`${code} of ${backend.port}`)
  }
  const forwarded = request(
    { port: backend.port, method, path, headers: without(headers, 'connection'), agent: backend.agent },
    (answer) => {
      outgoing.writeHead(answer.statusCode, without(answer.headers, 'connection', 'transfer-encoding'))
      answer.on('error', fail)
      answer.pipe(outgoing)
    },
  )
  forwarded.on('error', fail)
  incoming.pipe(forwarded)
}

const server = createServer((incoming, outgoing) => void forward(incoming, outgoing))

for (const backend of backends) setInterval(check, CHECK_MS, backend)
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
process.stdin.on('end', () => process.exit()).resume()
