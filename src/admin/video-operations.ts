import { z } from 'zod'
import type { OrphanTask } from '../video/tasks.ts'
import { done, notFound, operation, type AdminServices, type Operation } from './operation.ts'

const orphanView = ({ accounts }: AdminServices, orphan: OrphanTask): object => ({
  request: orphan.requestId,
  account: accounts.find(orphan.accountId)?.name ?? orphan.accountId,
  model: orphan.model,
  offer: orphan.offerId ?? null,
  upstream_id: orphan.upstreamId ?? null,
  why: orphan.why,
  created_at: new Date(orphan.createdAtMs).toISOString(),
})

const orphans = operation(z.strictObject({}), async (services) =>
  done((await services.tasks.orphans()).map((orphan) => orphanView(services, orphan))),
)

const settleOrphan = operation(z.strictObject({ request: z.string().min(1) }), async (services, { request }) =>
  (await services.tasks.settleOrphan(request)) ? done({ request }) : notFound('orphan', request),
)

export const videoOperations: Readonly<Record<string, Operation>> = {
  'video.orphans': orphans,
  'video.settle': settleOrphan,
}
