import type { Origin } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { Note } from '../ui/page.tsx'
import { Badge } from '../ui/text.tsx'

/** What a file or the environment says is read-only here, and says so. */
export function Declared({ origin }: { readonly origin: Origin }) {
  const t = useT()
  return origin === 'stored' ? null : <Note>{t(`origin.${origin}.hint`)}</Note>
}

export function OriginBadge({ origin }: { readonly origin: Origin }) {
  const t = useT()
  if (origin === 'stored') return null
  return (
    <span className="hidden sm:inline">
      <Badge title={t(`origin.${origin}.hint`)}>{t(`origin.${origin}`)}</Badge>
    </span>
  )
}
