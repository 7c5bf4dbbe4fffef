/** A screenshot that is taken after some actions. Texts are found in the language of the page. */
import { en } from '../../web/src/lib/i18n/en.ts'
import { zh } from '../../web/src/lib/i18n/zh.ts'
import type { BrowserPage } from './browser.ts'
import type { TestGateway } from './gateway.ts'

type Words = Readonly<Record<keyof typeof en, string>>
export type Stand = {
  readonly page: BrowserPage
  readonly words: Words
  readonly gateway: TestGateway
  /** Console's address, and what places name by `{…}`. */
  readonly url: string
  readonly values: Readonly<Record<string, string>>
}
export const wordsOf = (language: string): Words => (language === 'en' ? en : zh)

export type Scene = {
  readonly name: string
  readonly who: 'operator' | 'rich' | 'poor' | 'nobody'
  readonly path: string
  readonly shows: string
  /** What is done once it is there; ends when there is what the picture is of. */
  readonly act?: (stand: Stand) => Promise<unknown>
}
