/** The command bar (⌘K): finds pages and accounts by name, objects by id, and actions. */
import { Dialog } from '@base-ui/react/dialog'
import { useState, type KeyboardEvent } from 'react'
import { useT } from '../lib/language.ts'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import { useOpener } from '../ui/opener.ts'
import { useTargets, type Target } from './targets.ts'

type Props = { readonly open: boolean; readonly onClose: () => void; readonly accountId: string | undefined }

export function CommandBar({ open, onClose, accountId }: Props) {
  const t = useT()
  const opener = useOpener(open)
  const [wasOpen, setWasOpen] = useState(open)
  const [turn, setTurn] = useState(0)
  // If it is opened again while it is closing, it starts empty.
  if (wasOpen !== open) {
    setWasOpen(open)
    if (open) setTurn(turn + 1)
  }
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="enter-fade fixed inset-0 bg-[oklch(0.15_0.02_262_/_0.45)]" />
        <Dialog.Popup
          {...opener}
          className="enter-fade fixed top-[12vh] left-1/2 w-[calc(100vw-1.5rem)] max-w-lg -translate-x-1/2 overflow-hidden rounded-lg border bg-panel shadow-float"
        >
          <Dialog.Title className="sr-only">{t('shell.search')}</Dialog.Title>
          <Finder key={turn} accountId={accountId} onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Finder({ accountId, onClose }: Omit<Props, 'open'>) {
  const t = useT()
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const targets = useTargets(accountId, wanted)
  const chosen = Math.min(at, targets.length - 1)
  const pick = (target: Target | undefined): void => {
    if (!target) return
    onClose()
    target.go()
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((chosen + step + targets.length) % Math.max(1, targets.length))
    }
    if (event.key === 'Enter') pick(targets[chosen])
  }
  return (
    <>
      <input
        role="combobox"
        aria-label={t('shell.searchHint')}
        aria-expanded="true"
        aria-controls="targets"
        aria-activedescendant={chosen < 0 ? undefined : `target-${chosen}`}
        placeholder={t('shell.searchHint')}
        value={wanted}
        autoFocus
        onChange={(event) => {
          setWanted(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKey}
        className="w-full border-b bg-transparent px-4 py-3 text-base outline-none"
      />
      <ul id="targets" role="listbox" aria-label={t('shell.search')} className="max-h-[50vh] overflow-y-auto py-1">
        {targets.map((target, index) => (
          <li
            key={`${target.group} ${target.name} ${index}`}
            id={`target-${index}`}
            role="option"
            aria-selected={index === chosen}
            ref={(row) => {
              if (index === chosen) row?.scrollIntoView({ block: 'nearest' })
            }}
            onPointerMove={() => setAt(index)}
            onClick={() => pick(target)}
            className={classes('flex min-h-8 items-center gap-2.5 px-4', index === chosen && 'bg-hover')}
          >
            <Icon name={target.icon} className="text-soft" />
            <span title={target.name} className="min-w-0 grow truncate">
              {target.name}
            </span>
            <span className="shrink-0 text-xs text-soft">{target.group}</span>
          </li>
        ))}
      </ul>
      {targets.length === 0 && <p className="px-4 pb-4 text-center text-soft">{t('shell.nothingFound')}</p>}
    </>
  )
}
