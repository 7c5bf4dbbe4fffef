/** All routes of the console's API. */
import type { Route } from './route.ts'
import { sessionRoutes } from './session-routes.ts'
import { userRoutes } from './user-routes.ts'

export const routes: readonly Route[] = [...sessionRoutes, ...userRoutes]
