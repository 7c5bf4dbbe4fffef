/** The language of the page and its dictionary. English is in the bundle; another is loaded when it is asked for. */
import { prefer, type Language } from './preferences.ts'
import { tabState } from './tab-state.ts'
import type { Retell } from './i18n/said.ts'
import { en } from './i18n/en.ts'

export type Key = keyof typeof en
export type Dictionary = Readonly<Record<Key, string>>
/** Names that the server gives have words if they are known here. */
export const hasWords = (name: string): name is Key => Object.hasOwn(en, name)
type Values = Readonly<Record<string, string | number>>

const english: Dictionary = en
type Words = { readonly dictionary: Dictionary; readonly retell: Retell }
type SpokenLanguage = Words & { readonly language: Language }
/** The server speaks it itself. */
const inEnglish: Words = { dictionary: english, retell: () => undefined }
const spoken = tabState<SpokenLanguage>({ language: 'en', ...inEnglish })

async function wordsIn(language: Language): Promise<Words> {
  if (language === 'en') return inEnglish
  const { zh, retell } = await import('./i18n/zh.ts')
  return { dictionary: zh, retell }
}

/** Before the first paint: the language that the page was opened in. */
export async function openLanguage(): Promise<void> {
  await use(document.documentElement.lang.startsWith('zh') ? 'zh-CN' : 'en')
}

export async function chooseLanguage(language: Language): Promise<void> {
  prefer({ language })
  await use(language)
}

async function use(language: Language): Promise<void> {
  const words = await wordsIn(language)
  document.documentElement.lang = language
  spoken.set({ language, ...words })
}

/** A sentence; `{name}` in it is replaced by a value, and `{n|one|many}` chosen by a number. */
export function translate(dictionary: Dictionary, key: Key, values: Values = {}): string {
  return dictionary[key].replace(
    /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const value = values[name] ?? ''
      return one === undefined || many === undefined ? String(value) : Number(value) === 1 ? one : many
    },
  )
}

export type Translate = (key: Key, values?: Values) => string

/** The language and its sentences; what uses it is drawn anew when the language changes. */
export function useLanguage(): { readonly language: Language; readonly t: Translate } {
  const { language, dictionary } = spoken.use()
  return { language, t: (key, values) => translate(dictionary, key, values) }
}

export const useT = (): Translate => useLanguage().t

/** Says what the server said in words of this language. */
export const useRetell = (): Retell => spoken.use().retell
