import { useEffect, useState } from 'react'

const PAUSE_MS = 200

/** The last typed value after a pause, so that not every letter causes a request. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
