import { useEffect, useState } from 'react'
import { secretIn } from '../lib/secrets.ts'
import { SecretNote } from './secret-note.tsx'

type Props = {
  readonly name: string
  /** A placeholder that is shorter than the label. */
  readonly hint?: string
  readonly value: string | undefined
  readonly onSearch: (value: string | undefined) => void
  /** The route that finds the owner of a pasted secret. */
  readonly lookUpAt?: string
}

const PAUSE_MS = 250

/** Searches when the user pauses. A secret is not searched for, because the search text is in the URL. */
export function SearchField({ name, hint = name, value, onSearch, lookUpAt }: Props) {
  const [text, setText] = useState(value ?? '')
  const [secret, setSecret] = useState<string>()
  useEffect(() => {
    if (text === (value ?? '')) return undefined
    const timer = setTimeout(() => onSearch(text === '' ? undefined : text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value, onSearch])
  const type = (typed: string): void => {
    const isSecret = secretIn(typed) !== undefined
    setSecret(isSecret ? typed : undefined)
    setText(isSecret ? '' : typed)
  }
  return (
    <div className="relative">
      <input
        type="search"
        className="field !w-44 sm:!w-52"
        aria-label={name}
        title={name}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => type(event.target.value)}
      />
      {secret !== undefined && (
        <div className="absolute top-full right-0 z-20 mt-1 w-80 max-w-[calc(100vw-2rem)] rounded-md border bg-panel shadow-float max-sm:right-auto max-sm:left-0">
          <SecretNote secret={secret} lookUpAt={lookUpAt} onClose={() => setSecret(undefined)} />
        </div>
      )}
    </div>
  )
}
