// Reads HTTP/1.1 with Node's own parser. A line of JSON comes in for each stream, and one goes out with its messages.
import http from 'node:http'
import { createInterface } from 'node:readline'
import { Duplex } from 'node:stream'

const ROUNDS_MAX = 200

const connection = () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })

const headersOf = ({ rawHeaders }) => {
  const headers = {}
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i].toLowerCase(), rawHeaders[i + 1]]
    if (name !== 'content-length') headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  return headers
}

/** Calls `done` with the message once its body has come. */
function collect(message, start, done) {
  let body = ''
  message.on('data', (bytes) => (body += bytes.toString('latin1')))
  message.on('end', () => done({ start, headers: headersOf(message), body }))
}

let sink
const server = http.createServer({ maxHeaderSize: 65_536 }, (request, response) => {
  collect(request, `${request.method} ${request.url} ${request.httpVersion}`, (message) => {
    sink.messages.push(message)
    response.end()
  })
})
server.on('clientError', (error, socket) => {
  sink.error ??= error.code
  socket.destroy()
})

async function readRequests(bytes, count) {
  const here = { messages: [], error: undefined }
  sink = here
  const socket = connection()
  socket.on('error', () => {})
  server.emit('connection', socket)
  socket.push(bytes)
  for (let i = 0; i < ROUNDS_MAX && here.messages.length < count && !here.error; i++) await new Promise(setImmediate)
  socket.destroy()
  return here
}

function readAnswer(bytes, method) {
  const socket = connection()
  return new Promise((resolve) => {
    const request = http.request({ method, createConnection: () => socket, maxHeaderSize: 65_536 })
    const fail = ({ code, message }) => resolve({ messages: [], error: code ?? message })
    request.on('error', fail)
    request.on('response', (response) => {
      response.on('error', fail)
      collect(response, String(response.statusCode), (message) => resolve({ messages: [message] }))
    })
    request.end()
    setImmediate(() => {
      socket.push(bytes)
      socket.push(null)
    })
  }).finally(() => socket.destroy())
}

for await (const line of createInterface({ input: process.stdin })) {
  const { side, text, count, method } = JSON.parse(line)
  const bytes = Buffer.from(text, 'latin1')
  const read = side === 'request' ? await readRequests(bytes, count) : await readAnswer(bytes, method)
  process.stdout.write(`${JSON.stringify(read)}\n`)
}
