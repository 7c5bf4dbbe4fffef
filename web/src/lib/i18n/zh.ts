import type { en } from './en.ts'
import { account } from './zh/account.ts'
import { operator } from './zh/operator.ts'
import { playground } from './zh/playground.ts'
import { server } from './zh/server.ts'
import { words } from './zh/words.ts'

export const zh: Readonly<Record<keyof typeof en, string>> = {
  ...words,
  ...account,
  ...playground,
  ...operator,
  ...server,
}
