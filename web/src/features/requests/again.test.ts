import { expect, test } from 'bun:test'
import { commandFor } from './again.ts'

const asked = { id: 'req_1', endpoint: 'chat.completions', model: "o'model", stream: true }

test('the command says what was asked for and nothing else, and a shell reads it as it is meant', async () => {
  const command = commandFor(asked, 'http://127.0.0.1:1/v1') ?? ''
  const shell = Bun.spawn(['sh', '-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
    env: { TOLLGATE_API_KEY: 'sk' },
    stdout: 'pipe',
  })
  const words = (await new Response(shell.stdout).text()).trim().split('\n')
  expect(words.slice(0, 3)).toEqual(['http://127.0.0.1:1/v1/chat/completions', '-H', 'Authorization: Bearer sk'])
  expect(JSON.parse(words.at(-1) ?? '')).toEqual({
    model: "o'model",
    messages: [{ role: 'user', content: '…' }],
    stream: true,
  })
})

test('there is none for what a command would not say', () => {
  expect(commandFor({ ...asked, endpoint: 'images.edits' }, 'http://h/v1')).toBeUndefined()
})
