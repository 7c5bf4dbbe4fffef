// node tls-clients.js ORIGIN KEY SECONDS: clients of Node over TLS, each in a loop: `fetch`, `https` with an agent that
// keeps its connections and with one that does not, whole answers and streams. NODE_EXTRA_CA_CERTS names the
// authority. It prints one line of JSON: how many answers each kind got, what failed, and the serial numbers of the
// certificates.
import { Agent, request } from 'node:https'

const [origin, key, seconds] = process.argv.slice(2)
const url = `${origin}/v1/chat/completions`
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const bodyOf = (stream) =>
  JSON.stringify({ model: 'sandbox-chat', stream, messages: [{ role: 'user', content: 'write 20 tokens' }] })
const serials = new Set()

async function byFetch(stream) {
  const answer = await fetch(url, { method: 'POST', headers, body: bodyOf(stream) })
  return { status: answer.status, text: await answer.text() }
}

const byHttps = (agent) => (stream) =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (answer) => {
      serials.add(answer.socket.getPeerCertificate().serialNumber)
      let text = ''
      answer.setEncoding('utf8').on('data', (part) => (text += part))
      answer.on('error', reject).on('end', () => resolve({ status: answer.statusCode, text }))
    })
    sent.on('error', reject).end(bodyOf(stream))
  })

const kinds = {
  fetch: byFetch,
  kept: byHttps(new Agent({ keepAlive: true })),
  // A session that is taken up again does not show the certificate.
  fresh: byHttps(new Agent({ keepAlive: false, maxCachedSessions: 0 })),
}
const endMs = Date.now() + Number(seconds) * 1_000
const [answers, faults] = [{ fetch: 0, kept: 0, fresh: 0 }, []]

async function client(kind, stream) {
  while (Date.now() < endMs) {
    try {
      const { status, text } = await kinds[kind](stream)
      const isWhole =
        status === 200 && (stream ? text.endsWith('data: [DONE]\n\n') : JSON.parse(text).choices.length === 1)
      if (isWhole) answers[kind]++
      else faults.push(`${kind} ${status} ${text.slice(-200)}`)
    } catch (error) {
      faults.push(`${kind} ${error.message} ${error.cause?.message ?? ''}`)
    }
  }
}

await Promise.all(Object.keys(kinds).flatMap((kind) => [client(kind, false), client(kind, true)]))
process.stdout.write(`${JSON.stringify({ answers, faults: faults.slice(0, 10), serials: [...serials] })}\n`)
process.exit()
