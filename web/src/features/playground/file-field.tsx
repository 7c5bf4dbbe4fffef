import { useId, useRef, type DragEvent } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { Button } from '../../ui/button.tsx'

type Props = {
  readonly label: string
  readonly accept: string
  readonly file: File | undefined
  readonly onFile: (file: File | undefined) => void
  readonly disabled?: boolean
}

/** A file by choice or by dropping it. */
export function FileField({ label, accept, file, onFile, disabled = false }: Props) {
  const t = useT()
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    const [dropped] = event.dataTransfer.files
    if (dropped && accept.split(',').includes(dropped.type)) onFile(dropped)
  }
  return (
    <div onDragOver={(event) => event.preventDefault()} onDrop={disabled ? undefined : drop}>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <div className="flex items-center gap-2">
        <input
          ref={input}
          id={id}
          type="file"
          accept={accept}
          disabled={disabled}
          onChange={(event) => onFile(event.target.files?.[0])}
          className="min-w-0 grow rounded-md border border-dashed border-edge p-1 text-xs file:mr-2 file:min-h-6 file:rounded file:border-0 file:bg-sunken file:px-2 file:text-ink"
        />
        {file && (
          <Button
            kind="quiet"
            onClick={() => {
              if (input.current) input.current.value = ''
              onFile(undefined)
            }}
          >
            {t('play.remove')}
          </Button>
        )}
      </div>
    </div>
  )
}
