/** A log without a reader: the reader has left, or has stopped reading. */
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { freshFolder } from '../support/gateway.ts'

const LAUNCHER = resolve(import.meta.dir, '../../bin/tollgate.js')
/** Lines of 150 requests are more than the 64 KiB that a pipe holds. */
const REQUESTS = 150
const body = JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'x' }], max_tokens: 2 })

async function printed(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const part of stdout) {
    text += new TextDecoder().decode(part)
    if (text.includes('curl ')) break
  }
  return text
}

test.each([
  ['left', 'head -n 1 >/dev/null'],
  ['stopped reading', 'exec sleep 60'],
])(
  'the gateway serves, and ends when it is told to, though the reader of its log has %s',
  async (_, reader) => {
    const cwd = freshFolder()
    const env = { ...process.env, TOLLGATE_DATA: join(cwd, 'data'), PORT: '0' }
    const script = `mkfifo log; (${reader}) <log & echo $! >reader; exec node ${LAUNCHER} serve 2>log`
    const child = Bun.spawn(['sh', '-c', script], { cwd, env, stdout: 'pipe', stderr: 'inherit' })
    const text = await printed(child.stdout)
    const [url = ''] = /http:\S+(?=\/v1)/.exec(text) ?? []
    const [key = ''] = /sk-tg-\w+/.exec(text) ?? []
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    for (let i = 0; i < REQUESTS; i++) {
      const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true])
    }
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    Bun.spawnSync(['sh', '-c', 'kill $(cat reader) 2>/dev/null'], { cwd })
  },
  50_000,
)
