import type { en } from './en.ts'
import { kindNames } from './kinds.ts'
import { retellerOf, type Sayings } from './said.ts'
import { account } from './zh/account.ts'
import { bookings } from './zh/bookings.ts'
import { findings, invariants } from './zh/books.ts'
import { gateway } from './zh/gateway.ts'
import { operator } from './zh/operator.ts'
import { playground } from './zh/playground.ts'
import { refusals } from './zh/refusals.ts'
import { skips } from './zh/skips.ts'
import { server } from './zh/server.ts'
import { videos } from './zh/videos.ts'
import { words } from './zh/words.ts'

export const zh: Readonly<Record<keyof typeof en, string>> = {
  ...words,
  ...account,
  ...playground,
  ...operator,
  ...kindNames('zh', 'kind.'),
}

export const sayings: Sayings = {
  refusals: { ...refusals, ...kindNames('zh', 'kind:') },
  gateway,
  server,
  invariants,
  findings,
  skips,
  videos,
  bookings,
}
export const retell = retellerOf(sayings, 'zh-CN')
