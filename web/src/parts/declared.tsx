import type { ReactNode } from 'react'
import type { Origin } from '../lib/api-types.gen.ts'
import { useT } from '../lib/language.ts'
import { Note } from '../ui/page.tsx'
import { Badge } from '../ui/text.tsx'

/** The badge of values that a file or the environment declares. They are read-only here. */
export function Declared({ origin }: { readonly origin: Origin }) {
  const t = useT()
  return origin === 'stored' ? null : <Note>{t(`origin.${origin}.hint`)}</Note>
}

/** A name that may be shortened, with the badge of its origin. */
export function WithOrigin({ origin, children }: { readonly origin: Origin; readonly children: ReactNode }) {
  return (
    <span className="flex items-center gap-2">
      {children}
      <OriginBadge origin={origin} />
    </span>
  )
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
