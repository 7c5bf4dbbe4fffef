import type { Dictionary } from './language.ts'
import { account } from './zh/account.ts'
import { operator } from './zh/operator.ts'
import { playground } from './zh/playground.ts'
import { words } from './zh/words.ts'

export const zh: Dictionary = { ...words, ...account, ...playground, ...operator }
