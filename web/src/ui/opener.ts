/** What a dialog was opened by gets the focus again when it closes. */
import { useRef, useState } from 'react'

/** A menu goes when something of it was picked; what stays is the button that it hangs on. */
function focusedNow(): Element | null {
  const focused = document.activeElement
  const trigger = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger ? document.getElementById(trigger) : focused
}

/**
 * Props of a popup. It is asked while the dialog is drawn, before a field in it takes the focus with `autoFocus`: what
 * Base UI finds focused afterwards is that field, which goes with the dialog and leaves the focus nowhere.
 */
export function useOpener(open: boolean) {
  const ref = useRef<HTMLDivElement>(null)
  const [last, setLast] = useState(() => ({ open, by: open ? focusedNow() : null }))
  if (last.open !== open) setLast({ open, by: open ? focusedNow() : last.by })
  const finalFocus = (): HTMLElement | null | false => {
    const focused = document.activeElement
    // It has gone on to something else by itself: to what opened when this closed.
    if (focused !== document.body && !ref.current?.contains(focused)) return false
    const { by } = last
    const isThere = by instanceof HTMLElement && by.isConnected && by !== document.body
    return isThere ? by : document.getElementById('main')
  }
  return { ref, finalFocus }
}
