/** Dialogs and drawers. The focus stays inside and returns to the opener, and Escape closes. */
import { Dialog as Base } from '@base-ui/react/dialog'
import { memo, useRef, type ReactNode, type RefObject } from 'react'
import { useT } from '../lib/language.ts'
import { classes } from './classes.ts'
import { IconButton } from './button.tsx'
import { useOpener } from './opener.ts'

type Props = {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  readonly children: ReactNode
  /** Beside the title, before the close button. */
  readonly tools?: ReactNode
}

/** While it closes, its content stays as it was. Otherwise half of it would vanish first. */
const Frame = memo(Content, (_, { open }) => !open)

type ContentProps = Omit<Props, 'onClose'> & {
  /** The scrolling element, if it takes the focus. */
  readonly reading?: RefObject<HTMLDivElement | null>
}

function Content({ title, description, children, tools, reading }: ContentProps) {
  const t = useT()
  return (
    <>
      <div className="flex items-start gap-2 border-b px-4 py-3">
        <div className="min-w-0 grow pt-1">
          <Base.Title className="text-base font-semibold break-words">{title}</Base.Title>
          {description && <Base.Description className="mt-0.5 text-soft">{description}</Base.Description>}
        </div>
        {tools}
        <Base.Close render={<IconButton icon="cross" label={t('close')} />} />
      </div>
      <div
        ref={reading}
        tabIndex={reading && -1}
        className={classes('min-h-0 grow overflow-y-auto p-4', reading && 'outline-none')}
      >
        {children}
      </div>
    </>
  )
}

const Shade = () => <Base.Backdrop className="enter-fade fixed inset-0 bg-[oklch(0.15_0.02_262_/_0.45)]" />

export function Dialog({ open, onClose, wide = false, ...frame }: Props & { readonly wide?: boolean }) {
  const opener = useOpener(open)
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Base.Portal>
        <Shade />
        <Base.Popup
          {...opener}
          className={classes(
            'enter-fade fixed top-[8vh] left-1/2 flex max-h-[84vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col',
            'rounded-lg border bg-panel shadow-float max-sm:top-3 max-sm:max-h-[calc(100dvh-1.5rem)]',
            wide ? 'max-w-2xl' : 'max-w-md',
          )}
        >
          <Frame open={open} {...frame} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/**
 * A drawer from the right. Its content has its own URL. The scrolling element takes the focus, because the drawer is
 * for reading: on the first button the focus ring would distract a user who opens the URL.
 */
export function Drawer({ open, onClose, ...frame }: Props) {
  const opener = useOpener(open)
  const reading = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Base.Portal>
        <Shade />
        <Base.Popup
          {...opener}
          initialFocus={reading}
          className={classes(
            'enter-side fixed inset-y-0 right-0 flex w-full max-w-2xl flex-col border-l bg-panel shadow-float',
            'outline-none',
          )}
        >
          <Frame open={open} reading={reading} {...frame} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The buttons at the end of a form in a dialog. */
export const DialogButtons = ({ children }: { readonly children: ReactNode }) => (
  <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
)
