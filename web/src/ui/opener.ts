/** Returns the focus to the opener when a dialog closes. */
import { useRef, useState } from 'react'

/** A menu disappears when one of its items is chosen. The focus then returns to the menu's button. */
function focusedNow(): Element | null {
  const focused = document.activeElement
  const trigger = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger ? document.getElementById(trigger) : focused
}

/**
 * Props of a popup. The opener is noted while the dialog is drawn, before a field takes the focus with `autoFocus`.
 * Base UI would note that field, which disappears with the dialog, and the focus would be lost.
 */
export function useOpener(open: boolean) {
  const ref = useRef<HTMLDivElement>(null)
  const [last, setLast] = useState(() => ({ open, by: open ? focusedNow() : null }))
  if (last.open !== open) setLast({ open, by: open ? focusedNow() : last.by })
  const finalFocus = (): HTMLElement | null | false => {
    const focused = document.activeElement
    // The focus has already moved to something that opened when this closed.
    if (focused !== document.body && !ref.current?.contains(focused)) return false
    const { by } = last
    const isThere = by instanceof HTMLElement && by.isConnected && by !== document.body
    return isThere ? by : document.getElementById('main')
  }
  return { ref, finalFocus }
}
