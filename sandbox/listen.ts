/** The sandbox's server, apart from the vendor behind it. */
import type { Knobs } from './faults.ts'

export type SandboxOptions = {
  /** 0, the default, takes a free port. */
  port?: number
  hostname?: string
  /** When set, everything but `/health` wants it as the bearer token. */
  apiKey?: string
  /** Time between two events of a stream, 8 ms unless set: about 120 tokens per second. */
  paceMs?: number
  /** How long a video takes, 4 s unless set. */
  taskMs?: number
  faults?: Knobs
}

/** `url` is the base URL for clients, such as `http://127.0.0.1:4010/v1`. `stop` also ends the streams in flight. */
export type Sandbox = { url: string; port: number; stop(): Promise<void> }

/** Who answers behind the server. */
export type SandboxVendor = {
  readonly answer: (request: Request) => Response | Promise<Response>
  /** What a request gets whose answer threw. */
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
    // Otherwise every cut on purpose would be printed with its source.
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
