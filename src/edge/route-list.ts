/** The public routes as `tollgate doctor` shows them. */
import { routeLimits } from './route.ts'
import { methodsOf, pathsOf } from './router.ts'
import { publicRoutes } from './routes.ts'

export const listRoutes = () =>
  publicRoutes.map((route) => ({
    methods: methodsOf(route),
    paths: pathsOf(route),
    reads: route.reads.kind,
    limits: route.limits,
    limitNames: [...routeLimits[route.limits].names, ...bodyLimits[route.reads.kind]],
    summary: route.documentation.summary,
  }))

const bodyLimits = { json: ['body_bytes_max'], form: ['form_bytes_max'], none: [] } as const
