/** Starts a client in another process, in any language, and passes orders to it. */
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { AddressedCall, Reply } from './protocol.ts'

const ROOT = resolve(import.meta.dir, '../..')

export type ClientProcess = {
  /** One order at a time. */
  obey(order: AddressedCall): Promise<Reply>
  stop(): Promise<void>
}

/** The environment holds nothing of the user's: neither keys nor proxies. */
function startProcess(command: readonly string[], env: Readonly<Record<string, string>>): ClientProcess {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const lines = readLines(child.stdout)
  return {
    async obey(order) {
      await child.stdin.write(`${JSON.stringify(order)}\n`)
      await child.stdin.flush()
      const { value, done } = await lines.next()
      if (done) throw new Error(`${command[0]} ended with ${await child.exited}`)
      return JSON.parse(value) as Reply
    },
    async stop() {
      await child.stdin.end()
      child.kill()
      await child.exited
    },
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

const SCRIPT = join(import.meta.dir, 'openai-client.ts')

export function startInBun(sdk: 'openai-6' | 'openai-7'): ClientProcess {
  return startProcess([process.execPath, SCRIPT], { SDK: sdk })
}

/** Older versions of Node read no TypeScript: the script is translated, the packages stay what they are. */
export async function startInNode(node: string, sdk: 'openai-6'): Promise<ClientProcess> {
  const built = await Bun.build({ entrypoints: [SCRIPT], target: 'node', format: 'esm', packages: 'external' })
  const source = (await built.outputs[0]?.text()) ?? ''
  return startProcess([node, '--input-type=module', '--eval', source], { SDK: sdk })
}

export function startInPython(python: string, folder: string, mode: 'loose' | 'strict'): ClientProcess {
  const script = join(import.meta.dir, 'openai_client.py')
  return startProcess([python, script, mode], { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' })
}
