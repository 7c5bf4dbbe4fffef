/** Preferences that the browser stores. None of them is secret. */
import { tabState } from './tab-state.ts'
import type { Zone } from './time.ts'

export type Theme = 'light' | 'dark' | 'system'
export type Language = 'en' | 'zh-CN'
type Preferences = {
  readonly theme?: 'light' | 'dark' | undefined
  readonly language?: Language | undefined
  readonly zone?: Zone | undefined
  /** Whether the list of requests updates live. */
  readonly live?: boolean | undefined
  /** The account that an operator viewed last. */
  readonly account?: string | undefined
}

const NAME = 'tollgate'
const current = tabState(read())

function read(): Preferences {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? '{}') as Preferences
  } catch {
    return {} // Unreadable, or no storage: the defaults apply.
  }
}

export const preferences = current.get
export const usePreferences = current.use

export function prefer(change: Preferences): void {
  const next = { ...current.get(), ...change }
  try {
    localStorage.setItem(NAME, JSON.stringify(next))
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  current.set(next)
  applyTheme()
}

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
systemIsDark.addEventListener('change', applyTheme)

function applyTheme(): void {
  const theme = current.get().theme ?? (systemIsDark.matches ? 'dark' : 'light')
  document.documentElement.dataset['theme'] = theme
}
