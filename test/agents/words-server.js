// An MCP server over standard input and output with one tool, `secret_word`. Each call adds a line to the file MARK.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const tool = {
  name: 'secret_word',
  description: 'Tells the secret word.',
  inputSchema: { type: 'object', properties: { hint: { type: 'string' } } },
}

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'words', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => {
    appendFileSync(process.env.MARK, 'called\n')
    return { content: [{ type: 'text', text: 'The word is XYZZY.' }] }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  // A notification has no id and wants no answer.
  if (id === undefined) return
  const result = results[method]?.(params) ?? {}
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
})
