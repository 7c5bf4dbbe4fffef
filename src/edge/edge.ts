/** The public server: which route a path is, on each of its ports. */
import type { ServerExchange } from '../inbound/exchange.ts'
import { readModelPath } from '../formats/core/google-model-path.ts'
import { ContentServer, CONTENT_PATH } from './media.ts'
import type { Edge, EdgeOptions } from './edge-options.ts'
import { stateRoute } from './state.ts'
import { endpointOf, type Endpoint } from './envelope.ts'
import { type PublicRoute } from './request-context.ts'
import { videoIdOfContentPath, serveVideo, videoRoute } from './videos.ts'

import { MODEL_PATH, PublicApi } from './generate.ts'

const READ = ['GET', 'HEAD']

/** Builds the request handler of the public server. */
export function createEdge(options: EdgeOptions): Edge {
  const api = new PublicApi(options)
  const oneModel: PublicRoute = { methods: READ, handle: (context) => api.oneModel(context) }
  const files = new ContentServer(options.blobs, options.visitors)
  const archive = { files, tasks: options.relay.videos.tasks }
  const content: PublicRoute = {
    methods: READ,
    handle: (context) => api.file(context, (recipient) => files.image(recipient)),
  }
  const alive: PublicRoute = { methods: READ, handle: (context) => api.reply(context, 200, { status: 'ok' }) }
  const models: PublicRoute = { methods: READ, handle: (context) => api.models(context) }
  const monitored: [string, PublicRoute][] = [
    ['/healthz', alive],
    ['/health', alive],
    ['/readyz', { methods: READ, handle: (context) => api.ready(context) }],
    ['/metrics', { methods: READ, handle: (context) => api.metrics(context) }],
  ]
  const routes = new Map<string, PublicRoute>([
    ...monitored,
    ['/v1/models', models],
    ['/v1beta/models', models],
    ['/v1alpha/models', models],
    ['/v1/balance', { methods: READ, handle: (context) => api.balance(context) }],
    ['/v1/responses/input_tokens', { methods: ['POST'], handle: api.free.countResponse }],
  ])
  const monitorRoutes = new Map(monitored)
  const generating = new Map<Endpoint, PublicRoute>()
  const routeOf = ({ path, method }: ServerExchange['head']): PublicRoute | undefined => {
    const endpoint = endpointOf(path)
    if (endpoint) {
      const route = generating.get(endpoint) ?? api.generates(endpoint)
      generating.set(endpoint, route)
      return route
    }
    if (path.startsWith(CONTENT_PATH) && path.length > CONTENT_PATH.length) return content
    // An action of Google's that is not here is no route, whatever stands before it.
    if (MODEL_PATH.test(path) && (method !== 'POST' || !readModelPath(path))) return oneModel
    const video = videoIdOfContentPath(path)
    if (video !== undefined)
      return {
        methods: READ,
        handle: (context) => api.file(context, (to) => serveVideo(to, video, archive)),
      }
    const state = stateRoute(path) ?? videoRoute(path)
    return routes.get(path) ?? (state && api.free.kept(state))
  }
  return {
    handle: (exchange) => api.serve(api.open(exchange, 'public'), routeOf(exchange.head)),
    monitor: (exchange) => api.serve(api.open(exchange, 'monitor'), monitorRoutes.get(exchange.head.path)),
    refuse: (malformed) => api.refuseMalformed(malformed),
  }
}
