import { declareModels } from '../models.ts'
import type { ControlRoute, VendorRoute } from '../route.ts'
import { arkRoutes } from './ark.ts'
import { Jobs } from './jobs.ts'
import { linkRoutes, type LinkCounts } from './link.ts'
import { mediaKitRoutes } from './mediakit.ts'
import { Shelf } from './shelf.ts'
import { veoRoutes } from './veo.ts'

declareModels([
  { id: 'sandbox-video', contextTokensMax: 32_000, videos: { resolutions: ['480p', '720p', '1080p'] } },
  { id: 'sandbox-video-fast', contextTokensMax: 32_000, videos: { resolutions: ['480p', '720p'] } },
])

export type SandboxVideos = { readonly routes: readonly VendorRoute[]; readonly control: ControlRoute }

/** The video vendors, which share their tasks. `GET /sandbox/videos` counts their requests. */
export function createVideos(taskMs: number): SandboxVideos {
  const [jobs, shelf] = [new Jobs(taskMs), new Shelf()]
  const links: LinkCounts = { opened: 0, with_credentials: 0 }
  const report = (): object => ({ ...jobs.report(), links: { ...links }, films: shelf.report() })
  return {
    routes: [...arkRoutes(jobs), ...mediaKitRoutes(jobs), ...veoRoutes(jobs, shelf), ...linkRoutes(jobs, shelf, links)],
    control: {
      kind: 'control',
      method: 'GET',
      path: '/sandbox/videos',
      answer: () => ({ kind: 'json', status: 200, body: report() }),
    },
  }
}
