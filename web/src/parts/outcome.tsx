import type { Outcome } from '../lib/requests.ts'
import { useT } from '../lib/i18n/language.ts'
import { Status, type Tone } from '../ui/text.tsx'

const tones: Readonly<Record<Outcome, Tone>> = {
  completed: 'good',
  failed: 'bad',
  cut: 'warn',
  client_closed: 'none',
  barred: 'warn',
}

/** How a request ended, in a word; where there is no room, the word is for those who do not see the sign. */
export function OutcomeMark({ outcome, isShort = false }: { readonly outcome: Outcome; readonly isShort?: boolean }) {
  const t = useT()
  const word = t(`outcome.${outcome}`)
  return <Status tone={tones[outcome]}>{isShort ? <span className="sr-only">{word}</span> : word}</Status>
}
