import { useLayoutEffect, useRef } from 'react'

const NEAR_PIXELS = 40

/** Keeps the end of a growing box visible, unless the user has scrolled back. */
export function useFollow(content: unknown) {
  const ref = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (isAtEnd.current) ref.current?.scrollTo({ top: ref.current.scrollHeight })
  }, [content])
  const onScroll = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = ref.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_PIXELS
  }
  return { ref, onScroll }
}
