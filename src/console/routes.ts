/** All routes of the console's API. */
import { accountRoutes } from './account-routes.ts'
import { billingRoutes } from './billing-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { modelRoutes } from './model-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { providerRoutes } from './provider-routes.ts'
import { requestRoutes } from './request-routes.ts'
import type { Route } from './route.ts'
import { sessionRoutes } from './session-routes.ts'
import { usageRoutes } from './usage-routes.ts'
import { userRoutes } from './user-routes.ts'

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...usageRoutes,
  ...keyRoutes,
  ...requestRoutes,
  ...billingRoutes,
  ...modelRoutes,
  ...accountRoutes,
  ...userRoutes,
  ...providerRoutes,
  ...operatorRoutes,
]
