import { useEffect, useState } from 'react'

const PAUSE_MS = 200

/** What was typed last, once there is a pause: not every letter is a question to the server. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
