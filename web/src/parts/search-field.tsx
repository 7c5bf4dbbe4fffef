import { useEffect, useState } from 'react'

type Props = {
  readonly name: string
  readonly value: string | undefined
  readonly onSearch: (value: string | undefined) => void
}

const PAUSE_MS = 250

/** Searches when one pauses typing. */
export function SearchField({ name, value, onSearch }: Props) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => {
    if (text === (value ?? '')) return undefined
    const timer = setTimeout(() => onSearch(text === '' ? undefined : text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value, onSearch])
  return (
    <input
      type="search"
      className="field !w-44 sm:!w-52"
      aria-label={name}
      placeholder={name}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
}
