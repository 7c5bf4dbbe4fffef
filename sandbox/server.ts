import { chatRoutes } from './chat/chat.ts'
import { PrefixCache } from './chat/prefix-cache.ts'
import { respond } from './delivery.ts'
import { embeddingRoutes } from './embeddings/embeddings.ts'
import { exchange, readBody, refuseBody, type SandboxState } from './exchange.ts'
import { imageRoutes } from './images/image-routes.ts'
import { FaultPlan } from './fault-plan.ts'
import { parseKnobs, type ParsedKnobs } from './faults.ts'
import { listenSandbox, type Sandbox, type SandboxOptions, type SandboxVendor } from './listen.ts'
import { messagesRoutes } from './messages/messages.ts'
import { listModels, showModel } from './models.ts'
import { randomIdOf } from './random.ts'
import { inDialect, refuse, type ErrorFields, type JsonReply } from './reply.ts'
import { geminiRoutes } from './gemini/gemini.ts'
import { matchRoute, type ControlRoute, type VendorRoute } from './route.ts'
import { Stats } from './stats.ts'
import { SERVER_ERROR } from './vendor-failure.ts'
import { createVideos } from './video/videos.ts'

const PACE_DEFAULT_MS = 8
const TASK_DEFAULT_MS = 4_000

/** The routes of the vendor. A modality or a dialect has a folder, which declares its models, and one line here. */
const vendorRoutes = (prefixes: PrefixCache): readonly VendorRoute[] => [
  ...chatRoutes(prefixes),
  ...embeddingRoutes,
  ...imageRoutes,
  ...geminiRoutes(prefixes),
  ...messagesRoutes(),
  { kind: 'vendor', method: 'GET', path: '/v1/models', answer: listModels },
  { kind: 'vendor', method: 'GET', path: '/v1/models/*', answer: ({ tail }) => showModel(tail) },
]

const WRONG_KEY: ErrorFields = {
  message: 'Incorrect API key provided. The sandbox was started with a key of its own.',
  code: 'invalid_api_key',
}

/**
 * The built-in vendor. It speaks the wire formats of OpenAI, Anthropic, Google and Volcengine. Its answers follow from
 * the input, and it fails on demand (faults.ts).
 */
export function startSandbox(options: SandboxOptions = {}): Sandbox {
  return listenSandbox(createVendor(options), options)
}

/** The vendor without its server. */
export function createVendor(options: SandboxOptions): SandboxVendor {
  const { apiKey, paceMs = PACE_DEFAULT_MS, taskMs = TASK_DEFAULT_MS, faults = {} } = options
  const shared: SandboxState = { paceMs, plan: new FaultPlan(faults), stats: new Stats() }
  const videos = createVideos(taskMs)
  // Videos come first, because some of their paths are more exact than those of their dialect.
  const routes = [...videos.routes, ...vendorRoutes(new PrefixCache()), ...controlRoutes(shared), videos.control]
  return {
    answer(request) {
      const { pathname } = new URL(request.url)
      const requestId = randomIdOf('req_')
      const match = matchRoute(routes, request.method, pathname)
      const vendor = match.kind === 'found' && match.route.kind === 'vendor' ? match.route : undefined
      if (pathname !== '/health' && !vendor?.isOpen && !isAuthorized(request, apiKey)) {
        const refusal = vendor?.voice?.refuse(401, WRONG_KEY) ?? inDialect(refuse(401, WRONG_KEY), vendor?.errors)
        return respond(refusal, requestId)
      }
      if (match.kind === 'none') return respond(match.reply, requestId)
      const { route, tail } = match
      if (route.kind === 'control') return operate(request, route, requestId)
      return exchange(request, { route, tail, requestId }, shared)
    },
    fault: ({ message }) => respond(refuse(500, { ...SERVER_ERROR, message }), randomIdOf('req_')),
  }
}

function controlRoutes({ plan, stats }: SandboxState): readonly ControlRoute[] {
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
