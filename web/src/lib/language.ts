/** The language of the page and its dictionary. English is in the bundle. Other languages are loaded on demand. */
import { prefer, type Language } from './preferences.ts'
import { tabState } from './tab-state.ts'
import type { Retell } from './i18n/said.ts'
import type { en } from './i18n/en.ts'
import { atTheDoor } from './i18n/en/at-the-door.ts'

export type Key = keyof typeof en
export type Dictionary = Readonly<Record<Key, string>>
/** Server-defined names are translated if they are known here. */
export const hasWords = (name: string): name is Key => Object.hasOwn(english, name)
type Values = Readonly<Record<string, string | number>>

// The first page does not wait for the sentences of the others (inside-words.ts).
const english = { ...atTheDoor } as Dictionary
export const addEnglish = (more: Partial<Dictionary>): void => void Object.assign(english, more)
type Words = { readonly dictionary: Dictionary; readonly retell: Retell }
type SpokenLanguage = Words & { readonly language: Language }
/** The server itself speaks English. */
const inEnglish: Words = { dictionary: english, retell: () => undefined }
const spoken = tabState<SpokenLanguage>({ language: 'en', ...inEnglish })

async function wordsIn(language: Language): Promise<Words> {
  if (language === 'en') return inEnglish
  const { zh, retell } = await import('./i18n/zh.ts')
  return { dictionary: zh, retell }
}

/** Chooses the language before the first paint. */
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

/** Writes a sentence. `{name}` is replaced by a value, and `{n|one|many}` is chosen by a number. */
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

/** The language and its sentences. Components that use it are redrawn when the language changes. */
export function useLanguage(): { readonly language: Language; readonly t: Translate } {
  const { language, dictionary } = spoken.use()
  return { language, t: (key, values) => translate(dictionary, key, values) }
}

export const useT = (): Translate => useLanguage().t

/** Writes a message of the server in this language. */
export const useRetell = (): Retell => spoken.use().retell
