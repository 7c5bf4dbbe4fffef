/** Every sentence of the console. `{name}` is a value, `{n|one|many}` a choice by number. */
import { account } from './en/account.ts'
import { kindNames } from './kinds.ts'
import { operator } from './en/operator.ts'
import { playground } from './en/playground.ts'
import { words } from './en/words.ts'

export const en = { ...words, ...account, ...playground, ...operator, ...kindNames('en', 'kind.') }
