/** The English sentences that every page may need. */
import { kindNames } from '../kinds.ts'
import { account } from './account.ts'
import { words } from './words.ts'

export const atTheDoor = { ...words, ...account, ...kindNames('en', 'kind.') }
