/** The control socket: how a command reaches the gateway that owns the data folder. File permissions are its guard. */
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { resultJson, type AdminServices, type Result } from './operation.ts'

/** A socket's path is limited to about 104 bytes on some systems. */
const PATH_BYTES_MAX = 103

/** Bun's names for "nobody listens there". */
const UNREACHED = new Set(['ConnectionRefused', 'FailedToOpenSocket', 'ECONNREFUSED', 'ENOENT'])

/**
 * A backup or a verification of a large database is silent for longer than the 10 seconds after which Bun hangs up. Its
 * types know no such option for a socket file, its server does (1.4.5; `server.timeout` has no effect there).
 */
const patience: object = { idleTimeout: 0 }

const SERVER = 'server'

const controlPath = (dataFolder: string): string => join(dataFolder, 'control.sock')

/** Where a server listens, and the address that its clients use if that is another. */
export type Address = { readonly host: string; readonly port: number; readonly publicUrl: string | undefined }

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
      // Loaded at the first call: its schemas are not what a start should wait for.
      const { runOperation } = await import('./operations.ts')
      const result = await runOperation(services, name, await request.json())
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

/** Runs an operation in the gateway that serves this data folder. Undefined when none does. */
export async function callControl(dataFolder: string, name: string, input: unknown): Promise<Result | undefined> {
  const unix = controlPath(dataFolder)
  if (!existsSync(unix)) return undefined
  try {
    // Without a limit of its own: Bun's fetch would give up after five minutes.
    const options = { unix, method: 'POST', body: JSON.stringify(input), timeout: false }
    const response = await fetch(`http://control/${encodeURIComponent(name)}`, options)
    return (await response.json()) as Result
  } catch (error) {
    // A socket without a server: its process died, and the lock is free. Anything later may have been carried out.
    if (UNREACHED.has((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

/** The address of the server that has this data folder. Undefined when none has. */
export async function askAddress(dataFolder: string): Promise<Address | undefined> {
  const result = await callControl(dataFolder, SERVER, {})
  return result?.ok ? (result.value as Address) : undefined
}
