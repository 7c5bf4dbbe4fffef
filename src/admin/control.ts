/** The control socket connects a command to the gateway that owns the data folder. File permissions protect it. */
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { resultJson, type AdminServices, type Result } from './operation.ts'

/** A socket's path is limited to about 104 bytes on some systems. */
const PATH_BYTES_MAX = 103

/** Bun's error codes for a socket on which nobody listens. */
const UNREACHED = new Set(['ConnectionRefused', 'FailedToOpenSocket', 'ECONNREFUSED', 'ENOENT'])

/**
 * Turns off Bun's idle timeout of 10 seconds. A backup or a verification of a large database is silent for longer.
 * Bun 1.4.5 takes this option for a socket file, although its types do not have it. `server.timeout` has no effect.
 */
const patience: object = { idleTimeout: 0 }

const SERVER = 'server'

const controlPath = (dataFolder: string): string => join(dataFolder, 'control.sock')

/** Where a server listens, and the address that its clients use if that is another. */
export type Address = {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
  readonly publicUrl: string | undefined
}

/** Answers operations by their names, and `server` with the address. */
export function serveControl(dataFolder: string, services: AdminServices, address: Address): { stop(): Promise<void> } {
  const unix = controlPath(dataFolder)
  if (Buffer.byteLength(unix) > PATH_BYTES_MAX) {
    throw new Error(`the data folder's path is too long for a socket in it (${unix}); choose a shorter TOLLGATE_DATA`)
  }
  // The folder's lock is ours, so a socket found here belongs to a process that died.
  rmSync(unix, { force: true })
  const server = Bun.serve({
    ...patience,
    unix,
    development: false,
    error: ({ message }) => new Response(resultJson({ ok: false, code: 'failed', message })),
    async fetch(request) {
      const name = decodeURIComponent(new URL(request.url).pathname.slice(1))
      if (name === SERVER) return new Response(resultJson({ ok: true, value: address }))
      // Loaded at the first call, so that the start does not wait for its schemas.
      const { runOperation } = await import('./operations.ts')
      const input = await request.json()
      await services.catchUp()
      const result = await runOperation(services, name, input)
      return new Response(resultJson(result), { headers: { 'content-type': 'application/json' } })
    },
  })
  chmodSync(unix, 0o600)
  return {
    async stop() {
      await server.stop(true)
      rmSync(unix, { force: true })
    },
  }
}

/** Runs an operation in the gateway that serves this data folder. Undefined if none does. */
export async function callControl(dataFolder: string, name: string, input: unknown): Promise<Result | undefined> {
  const unix = controlPath(dataFolder)
  if (!existsSync(unix)) return undefined
  try {
    // No timeout: by default, Bun's fetch gives up after five minutes. The connection is not kept for the next call,
    // because another process may have this socket's path by then.
    const options = { unix, method: 'POST', body: JSON.stringify(input), timeout: false, keepalive: false }
    const response = await fetch(`http://control/${encodeURIComponent(name)}`, options)
    return (await response.json()) as Result
  } catch (error) {
    // The process of this socket died, and the lock is free. After any other error the operation may have run.
    if (UNREACHED.has((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

/** The address of the server that has this data folder. Undefined if none has it. */
export async function askAddress(dataFolder: string): Promise<Address | undefined> {
  const result = await callControl(dataFolder, SERVER, {})
  return result?.ok ? (result.value as Address) : undefined
}
