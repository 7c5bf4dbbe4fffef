/** The English sentences that only pages behind the door need. They come with the first of these pages. */
import { addEnglish } from './language.ts'
import { operator } from './i18n/en/operator.ts'
import { playground } from './i18n/en/playground.ts'

addEnglish({ ...playground, ...operator })
