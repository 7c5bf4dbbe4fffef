import { answerChat } from './chat/chat.ts'
import { respond } from './delivery.ts'
import { answerEmbeddings } from './embeddings/embeddings.ts'
import { exchange, readBody, refuseBody, type Shared } from './exchange.ts'
import { FaultPlan } from './fault-plan.ts'
import { parseKnobs, type Faults, type ParsedKnobs } from './faults.ts'
import { messagesRoutes } from './messages/messages.ts'
import { listModels, showModel } from './models.ts'
import { randomId } from './random.ts'
import { inDialect, refuse, type Complaint, type JsonReply } from './reply.ts'
import { geminiRoutes } from './gemini/gemini.ts'
import { matchRoute, type ControlRoute, type VendorRoute } from './route.ts'
import { Stats } from './stats.ts'
import { SERVER_ERROR } from './vendor-failure.ts'

export type { Faults } from './faults.ts'

export type SandboxOptions = {
  /** 0, the default, takes a free port. */
  port?: number
  hostname?: string
  /** When set, everything but `/health` wants it, as the bearer token or as `x-api-key`. */
  apiKey?: string
  /** Time between two events of a stream, 8 ms unless set: about 120 tokens per second. */
  paceMs?: number
  faults?: Faults
}

/** `url` is the base URL for clients, such as `http://127.0.0.1:4010/v1`. `stop` also ends the streams in flight. */
export type Sandbox = { url: string; port: number; stop(): Promise<void> }

const PACE_DEFAULT_MS = 8

/** A modality is a file and a line here. */
const VENDOR_ROUTES: readonly VendorRoute[] = [
  { kind: 'vendor', method: 'POST', path: '/v1/chat/completions', answer: answerChat },
  { kind: 'vendor', method: 'POST', path: '/v1/embeddings', answer: answerEmbeddings },
  ...geminiRoutes,
  { kind: 'vendor', method: 'GET', path: '/v1/models', answer: listModels },
  { kind: 'vendor', method: 'GET', path: '/v1/models/*', answer: ({ tail }) => showModel(tail) },
]

const WRONG_KEY: Complaint = {
  message: 'Incorrect API key provided. The sandbox was started with a key of its own.',
  code: 'invalid_api_key',
}

/**
 * The built-in vendor: the wire formats of OpenAI and Anthropic, answers that follow from the input, and faults on
 * demand (faults.ts).
 */
export function startSandbox(options: SandboxOptions = {}): Sandbox {
  const { port: wantedPort = 0, hostname = '127.0.0.1', apiKey, paceMs = PACE_DEFAULT_MS, faults = {} } = options
  const shared: Shared = { paceMs, plan: new FaultPlan(faults), stats: new Stats() }
  const routes = [...VENDOR_ROUTES, ...messagesRoutes(), ...controlRoutes(shared)]
  const server = Bun.serve({
    port: wantedPort,
    hostname,
    idleTimeout: 0,
    // Otherwise every cut on purpose would be printed with its source.
    development: false,
    reusePort: false,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const requestId = randomId('req_')
      const match = matchRoute(routes, request.method, pathname)
      if (pathname !== '/health' && !isAuthorized(request, apiKey)) {
        const errors = match.kind === 'found' && match.route.kind === 'vendor' ? match.route.errors : undefined
        return respond(inDialect(refuse(401, WRONG_KEY), errors), requestId)
      }
      if (match.kind === 'none') return respond(match.reply, requestId)
      const { route, tail } = match
      if (route.kind === 'control') return operate(request, route, requestId)
      return exchange(request, { route, tail, requestId }, shared)
    },
    error: ({ message }) => respond(refuse(500, { ...SERVER_ERROR, message }), randomId('req_')),
  })
  const port = server.port ?? wantedPort
  return { url: `http://${authorityOf(hostname)}:${port}/v1`, port, stop: () => server.stop(true) }
}

function controlRoutes({ plan, stats }: Shared): readonly ControlRoute[] {
  const replaceFaults = (parsed: ParsedKnobs): JsonReply => {
    if (parsed.kind === 'refused') return refuse(400, { message: parsed.message, code: 'invalid_fault' })
    plan.replace(parsed.knobs)
    return { kind: 'json', status: 200, body: { faults: parsed.knobs } }
  }
  const report = (body: unknown): JsonReply => ({ kind: 'json', status: 200, body })
  const kind = 'control'
  return [
    { kind, method: 'GET', path: '/health', answer: () => report({ status: 'ok' }) },
    { kind, method: 'GET', path: '/sandbox/stats', answer: () => report(stats.read()) },
    { kind, method: 'POST', path: '/sandbox/faults', answer: (body) => replaceFaults(parseKnobs(body)) },
    { kind, method: 'DELETE', path: '/sandbox/faults', answer: () => replaceFaults({ kind: 'knobs', knobs: {} }) },
  ]
}

async function operate(request: Request, route: ControlRoute, requestId: string): Promise<Response> {
  const body = await readBody(request)
  return respond(body.kind === 'read' ? route.answer(body.value) : refuseBody(), requestId)
}

function isAuthorized(request: Request, apiKey: string | undefined): boolean {
  const { headers, url } = request
  const presented = [headers.get('x-api-key'), headers.get('x-goog-api-key'), new URL(url).searchParams.get('key')]
  return apiKey === undefined || headers.get('authorization') === `Bearer ${apiKey}` || presented.includes(apiKey)
}

function authorityOf(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return '127.0.0.1'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
