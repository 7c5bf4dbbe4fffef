/** Finds the route of a request in the table of routes. */
import { readModelPath } from '../formats/core/google-model-path.ts'
import type { PublicRoute } from './route.ts'
import { publicRoutes } from './routes.ts'

/** All routes of one path. */
type PathRoutes = {
  readonly byMethod: ReadonlyMap<string, PublicRoute>
  /** In the order of the table. HEAD follows GET. */
  readonly methods: readonly string[]
}

export type RouteMatch = {
  readonly routes: PathRoutes
  /** The raw text of the path parameter. Empty if the path has none. */
  readonly param: string
}

export const methodsOf = ({ method }: PublicRoute): readonly string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method])
export const pathsOf = ({ path, aliases = [] }: PublicRoute): readonly string[] => [path, ...aliases]

const ACTION = /\{model\}:(\w+)$/
/** Google's SDKs put `models/` before an id, even if the id has it already. */
const parameters: Readonly<Record<string, string>> = { id: '([^/]+)', file: '(.+)', model: '(?:models/)?(.+)' }

const exact = new Map<string, RouteMatch>()
/** Routes by the action after the model. The model in such a path may contain slashes and colons. */
const actions = new Map<string, PathRoutes>()
const patterns: { readonly pattern: RegExp; readonly routes: PathRoutes }[] = []
const monitored = new Map<string, RouteMatch>()

function addPath(path: string, routes: PathRoutes): void {
  const action = ACTION.exec(path)?.[1]
  if (action !== undefined) actions.set(action, routes)
  else if (!path.includes('{')) exact.set(path, { routes, param: '' })
  else {
    const source = path.replace(/\{(\w+)\}/, (_, name: string) => parameters[name] ?? '([^/]+)')
    patterns.push({ pattern: new RegExp(`^${source}$`), routes })
  }
}

const byPath = Map.groupBy(
  publicRoutes.flatMap((route) => pathsOf(route).map((path) => ({ path, route }))),
  ({ path }) => path,
)
for (const [path, all] of byPath) {
  const routes = {
    byMethod: new Map(all.flatMap(({ route }) => methodsOf(route).map((method) => [method, route]))),
    methods: all.flatMap(({ route }) => methodsOf(route)),
  }
  addPath(path, routes)
  if (all.some(({ route }) => route.isMonitored)) monitored.set(path, { routes, param: '' })
}

/** Finds the routes of a path. Exact paths come before paths with a parameter. Undefined: no route has this path. */
export function routesAt(method: string, path: string): RouteMatch | undefined {
  const found = exact.get(path)
  if (found) return found
  const named = readModelPath(path)
  const action = named && actions.get(named.action)
  if (action) return { routes: action, param: named.model }
  // An unknown action of Google's API has no route. Without this check the path would match a model with a colon.
  if (named && method === 'POST') return undefined
  for (const { pattern, routes } of patterns) {
    const match = pattern.exec(path)
    if (match) return { routes, param: match[1] ?? '' }
  }
  return undefined
}

export const monitoredAt = (path: string): RouteMatch | undefined => monitored.get(path)

/** Whether the path names an action of Google's API. */
export function isModelAction(path: string): boolean {
  const action = readModelPath(path)?.action
  return action !== undefined && actions.has(action)
}

/** The path of the route with its parameters by name, such as `/v1/files/{id}`. Undefined: there is no such route. */
export const templateOf = (method: string, path: string): string | undefined =>
  routesAt(method, path)?.routes.byMethod.get(method)?.path

/** The name of the endpoint in request records. Undefined: the request does not reach an endpoint that generates. */
export function recordedEndpoint(method: string, path: string): string | undefined {
  const route = routesAt(method, path)?.routes.byMethod.get(method)
  return route?.limits === 'key_and_account' ? route.recordedAs : undefined
}

/** The path that a client meant if its base URL lacks the version or has it twice. Undefined if there is none. */
export function meantPath(path: string): string | undefined {
  const rest = path.replace(/^(?:\/v1(?:beta|alpha)?(?=\/))+/, '')
  const takesBody = (one: string): boolean => {
    const route = routesAt('POST', one)?.routes.byMethod.get('POST')
    return route !== undefined && route.reads.kind !== 'none'
  }
  return [`/v1beta${rest}`, `/v1${rest}`].find((one) => one !== path && takesBody(one))
}
