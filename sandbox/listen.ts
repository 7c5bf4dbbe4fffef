/** The sandbox's server, separate from the vendor behind it. */
import type { Knobs } from './faults.ts'

export type SandboxOptions = {
  /** The port. 0, the default, takes a free one. */
  port?: number
  hostname?: string
  /** If set, every route but `/health` requires it as the bearer token. */
  apiKey?: string
  /** Time between two events of a stream. The default of 8 ms is about 120 tokens per second. */
  paceMs?: number
  /** The time that a video takes. The default is 4 s. */
  taskMs?: number
  faults?: Knobs
}

/** `url` is the base URL for clients, such as `http://127.0.0.1:4010/v1`. `stop` also ends streams in flight. */
export type Sandbox = { url: string; port: number; stop(): Promise<void> }

/** The vendor behind the server. */
export type SandboxVendor = {
  readonly answer: (request: Request) => Response | Promise<Response>
  /** The answer to a request whose handler threw. */
  readonly fault: (error: Error) => Response
}

export function listenSandbox(
  vendor: SandboxVendor,
  { port: wantedPort = 0, hostname = '127.0.0.1' }: SandboxOptions,
): Sandbox {
  const server = Bun.serve({
    port: wantedPort,
    hostname,
    idleTimeout: 0,
    // In development mode, every deliberate cut would be printed with its source.
    development: false,
    reusePort: false,
    fetch: vendor.answer,
    error: vendor.fault,
  })
  const port = server.port ?? wantedPort
  return { url: `http://${authorityOf(hostname)}:${port}/v1`, port, stop: () => server.stop(true) }
}

function authorityOf(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
