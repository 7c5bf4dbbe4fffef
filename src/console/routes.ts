/** All routes of the console's API. */
import { accountPriceRoutes } from './account-price-routes.ts'
import { accountRoutes } from './account-routes.ts'
import { billingRoutes } from './billing-routes.ts'
import { effectRoutes } from './effect-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { modelRoutes } from './model-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { providerRoutes } from './provider-routes.ts'
import { refusedRoutes } from './refused-routes.ts'
import { requestRoutes } from './request-routes.ts'
import { z } from 'zod'
import { openApiOf } from './openapi.ts'
import { json, route, type ConsoleRoute } from './route.ts'
import { savedViewRoutes } from './saved-view-routes.ts'
import { secretRoutes } from './secret-routes.ts'
import { sessionRoutes } from './session-routes.ts'
import { usageRoutes } from './usage-routes.ts'
import { userRoutes } from './user-routes.ts'

const described: readonly ConsoleRoute[] = [
  ...sessionRoutes,
  ...usageRoutes,
  ...keyRoutes,
  ...requestRoutes,
  ...refusedRoutes,
  ...savedViewRoutes,
  ...billingRoutes,
  ...modelRoutes,
  ...accountPriceRoutes,
  ...accountRoutes,
  ...userRoutes,
  ...providerRoutes,
  ...effectRoutes,
  ...secretRoutes,
  ...operatorRoutes,
]

let whole: object | undefined

/** The document describes its own route, too. It is made once: it takes many milliseconds, and anyone may ask. */
const document = route('GET', '/openapi.json', {
  access: 'open',
  summary: 'Get this document.',
  answer: z.looseObject({ openapi: z.string() }),
  run: ({ context }) => json((whole ??= openApiOf(routes, context.facts.version))),
})

export const routes: readonly ConsoleRoute[] = [...described, document]
