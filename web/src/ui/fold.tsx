import type { ReactNode } from 'react'
import { useT } from '../lib/language.ts'
import { Icon } from './icon.tsx'

type Props = {
  readonly title: ReactNode
  /** The content has an error, which the closed section shows. */
  readonly isMarked?: boolean
  /** The initial state. Afterwards the user decides. */
  readonly isOpen?: boolean
  readonly children: ReactNode
}

/** The error icon, and its text for screen readers. */
function Marked() {
  const t = useT()
  return (
    <>
      <Icon name="warning" className="text-bad" />
      <span className="sr-only">{t('fold.marked')}</span>
    </>
  )
}

/** A section that is closed until the user opens it. */
export const Fold = ({ title, isMarked = false, isOpen = false, children }: Props) => (
  <details open={isOpen} className="group rounded-md border">
    <summary className="flex min-h-8 list-none items-center gap-2 px-3 font-medium hover:bg-hover">
      <Icon name="right" className="!size-3 group-open:rotate-90" />
      <span className="grow">{title}</span>
      {isMarked && <Marked />}
    </summary>
    <div className="space-y-3 border-t p-3">{children}</div>
  </details>
)
