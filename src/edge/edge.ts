/** The public server: which route a path is, on each of its ports. */
import type { ServerExchange } from '../inbound/exchange.ts'
import { readModelPath } from '../formats/gemini/model-path.ts'
import { ContentServer, CONTENT_PATH } from './content.ts'
import type { Edge, EdgeOptions } from './edge-options.ts'
import { stateRoute } from './responses.ts'
import { surfaceOf, type Endpoint } from './endpoint.ts'
import { type PublicRoute } from './request-context.ts'
import { videoIdOfContentPath, serveVideo, videoRoute } from './videos.ts'

import { MODEL_PATH, PublicApi } from './public-api.ts'

const READ = ['GET', 'HEAD']

/** Builds the request handler of the public server. */
export function createEdge(options: EdgeOptions): Edge {
  const desk = new PublicApi(options)
  const oneModel: PublicRoute = { methods: READ, handle: (turn) => desk.oneModel(turn) }
  const files = new ContentServer(options.blobs, options.visitors)
  const archive = { files, tasks: options.relay.videos.tasks }
  const content: PublicRoute = {
    methods: READ,
    handle: (turn) => desk.file(turn, (recipient) => files.image(recipient)),
  }
  const alive: PublicRoute = { methods: READ, handle: (turn) => desk.reply(turn, 200, { status: 'ok' }) }
  const models: PublicRoute = { methods: READ, handle: (turn) => desk.models(turn) }
  const monitored: [string, PublicRoute][] = [
    ['/healthz', alive],
    ['/health', alive],
    ['/readyz', { methods: READ, handle: (turn) => desk.ready(turn) }],
    ['/metrics', { methods: READ, handle: (turn) => desk.metrics(turn) }],
  ]
  const routes = new Map<string, PublicRoute>([
    ...monitored,
    ['/v1/models', models],
    ['/v1beta/models', models],
    ['/v1alpha/models', models],
    ['/v1/balance', { methods: READ, handle: (turn) => desk.balance(turn) }],
    ['/v1/responses/input_tokens', { methods: ['POST'], handle: desk.free.countResponse }],
  ])
  const monitorRoutes = new Map(monitored)
  const generating = new Map<Endpoint, PublicRoute>()
  const routeOf = ({ path, method }: ServerExchange['head']): PublicRoute | undefined => {
    const surface = surfaceOf(path)
    if (surface) {
      const route = generating.get(surface) ?? desk.generates(surface)
      generating.set(surface, route)
      return route
    }
    if (path.startsWith(CONTENT_PATH) && path.length > CONTENT_PATH.length) return content
    // An action of Google's that is not here is no route, whatever stands before it.
    if (MODEL_PATH.test(path) && (method !== 'POST' || !readModelPath(path))) return oneModel
    const video = videoIdOfContentPath(path)
    if (video !== undefined)
      return {
        methods: READ,
        handle: (turn) => desk.file(turn, (to) => serveVideo(to, video, archive)),
      }
    const state = stateRoute(path) ?? videoRoute(path)
    return routes.get(path) ?? (state && desk.free.kept(state))
  }
  return {
    handle: (exchange) => desk.serve(desk.open(exchange, 'public'), routeOf(exchange.head)),
    monitor: (exchange) => desk.serve(desk.open(exchange, 'monitor'), monitorRoutes.get(exchange.head.path)),
    refuse: (malformed) => desk.refuseMalformed(malformed),
  }
}
