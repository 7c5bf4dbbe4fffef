import type { Outcome } from '../lib/requests.ts'
import { useT } from '../lib/language.ts'
import { Status, type Tone } from '../ui/text.tsx'

const tones: Readonly<Record<Outcome, Tone>> = {
  completed: 'good',
  failed: 'bad',
  cut: 'warn',
  client_closed: 'none',
  barred: 'warn',
}

/** The outcome of a request in a word. */
export function OutcomeMark({ outcome, isShort = false }: { readonly outcome: Outcome; readonly isShort?: boolean }) {
  const t = useT()
  return (
    <Status tone={tones[outcome]} isShort={isShort}>
      {t(`outcome.${outcome}`)}
    </Status>
  )
}
