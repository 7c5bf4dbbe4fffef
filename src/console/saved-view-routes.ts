/** Saved views: named filters of the list of requests. They belong to one person and work on every account. */
import { z } from 'zod'
import { visibleName } from '../admin/name.ts'
import { SAVED_VIEWS_MAX, type SavedView, type SavedViewRefusal } from '../accounts/saved-views.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { json, missing, problem, route, type RouteContext, type Problem, type ConsoleRoute } from './route.ts'
import { isoTime, time, wholeOf } from './shapes.ts'

const viewShape = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    query: z.string().meta({ description: 'the search part of the address of the page, without its question mark' }),
    created_at: time,
  })
  .meta({ id: 'SavedView' })

const draft = z.strictObject({ name: visibleName, query: z.string().max(2_000) })

const viewOf = ({ id, name: called, query, createdAtMs }: SavedView): z.infer<typeof viewShape> => ({
  id,
  name: called,
  query,
  created_at: isoTime(createdAtMs),
})

/** The id of the person. The access `signed_in` admits nobody else. */
function userIdOf({ principal }: Pick<RouteContext, 'principal'>): string {
  if (principal.kind !== 'user') throw new Error('a route for people was open to others')
  return principal.user.id
}

/** The throttle is that of changes in an account: a burst, and then one a second. */
async function tooMany({
  context,
  principal,
}: Pick<RouteContext, 'context' | 'principal'>): Promise<Problem | undefined> {
  const retryAfterMs = await context.throttles.changes.take(userIdOf({ principal }))
  if (retryAfterMs === 0) return undefined
  return problem(429, 'rate_limit_exceeded', sayConsoleRefusal('too_many_changes'), { retryAfterMs })
}

function refused({ kind }: SavedViewRefusal): Problem {
  switch (kind) {
    case 'missing':
      return missing('view')
    case 'name_taken':
      return problem(409, 'conflict', sayConsoleRefusal('view_taken'), { param: 'name' })
    case 'too_many':
      return problem(409, 'conflict', sayConsoleRefusal('views_full', { max: SAVED_VIEWS_MAX }))
  }
}

export const savedViewRoutes: readonly ConsoleRoute[] = [
  route('GET', '/saved-views', {
    access: 'signed_in',
    summary: 'List your saved views of requests, which are named filters.',
    answer: wholeOf(viewShape),
    run: async (call) => json({ data: (await call.context.services.savedViews.listOf(userIdOf(call))).map(viewOf) }),
  }),
  route('POST', '/saved-views', {
    access: 'signed_in',
    summary: `Save filters as a view. You can have at most ${SAVED_VIEWS_MAX}.`,
    body: draft,
    answer: viewShape,
    run: async (call) => {
      const wait = await tooMany(call)
      if (wait) return wait
      const saved = await call.context.services.savedViews.create(userIdOf(call), call.body)
      return 'kind' in saved ? refused(saved) : json(viewOf(saved))
    },
  }),
  route('PATCH', '/saved-views/{view}', {
    access: 'signed_in',
    summary: 'Rename a view.',
    body: z.strictObject({ name: visibleName }),
    answer: viewShape,
    run: async (call) => {
      const { savedViews } = call.context.services
      const userId = userIdOf(call)
      const wait = await tooMany(call)
      if (wait) return wait
      const problemOf = await savedViews.rename(userId, call.params.view, call.body)
      if (problemOf) return refused(problemOf)
      const view = (await savedViews.listOf(userId)).find(({ id }) => id === call.params.view)
      return view ? json(viewOf(view)) : missing('view')
    },
  }),
  route('DELETE', '/saved-views/{view}', {
    access: 'signed_in',
    summary: 'Remove a view. The requests stay.',
    answer: wholeOf(viewShape),
    run: async (call) => {
      const { savedViews } = call.context.services
      const wait = await tooMany(call)
      if (wait) return wait
      if (!(await savedViews.remove(userIdOf(call), call.params.view))) return missing('view')
      return json({ data: (await savedViews.listOf(userIdOf(call))).map(viewOf) })
    },
  }),
]
