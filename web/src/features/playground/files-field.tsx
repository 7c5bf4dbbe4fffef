import { useEffect, useId, useState, type DragEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'

type Props = {
  readonly label: string
  /** Media types such as `image/png`, and whole kinds such as `video/*`. */
  readonly accept: readonly string[]
  readonly max: number
  readonly files: readonly File[]
  readonly onFiles: (files: readonly File[]) => void
  /** The reason why no file can be added now. */
  readonly closed?: string | undefined
  readonly hint?: string | undefined
}

const takes = (accept: readonly string[], { type }: File): boolean =>
  accept.some((one) => one === type || (one.endsWith('/*') && type.startsWith(one.slice(0, -1))))

const addClass =
  '-ml-3 cursor-pointer peer-focus-visible:outline-2 peer-focus-visible:outline-accent peer-disabled:cursor-not-allowed peer-disabled:opacity-55'

/** A field for files, which are chosen or dropped, up to a maximum. */
export function FilesField({ label, accept, max, files, onFiles, closed, hint }: Props) {
  const t = useT()
  const id = useId()
  const [refused, setRefused] = useState<string>()
  const isOpen = closed === undefined && (files.length < max || max === 1)
  const take = (chosen: readonly File[]): void => {
    const good = chosen.filter((file) => takes(accept, file))
    const all = max === 1 ? good.slice(0, 1) : [...files, ...good]
    const wrong = chosen.find((file) => !takes(accept, file))
    const tooMany = all.length > max ? t('play.wrong.fileCount', { n: max }) : undefined
    setRefused(wrong ? t('play.wrong.fileType', { name: wrong.name }) : tooMany)
    if (good.length > 0) onFiles(all.slice(0, max))
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    if (isOpen) take([...event.dataTransfer.files])
  }
  const note = refused ?? closed ?? hint
  return (
    <div
      role="group"
      aria-label={label}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      className="rounded-md border border-dashed border-edge px-3 py-2"
    >
      <input
        id={id}
        type="file"
        accept={accept.join()}
        multiple={max > 1}
        disabled={!isOpen}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={({ target }) => {
          const chosen = [...(target.files ?? [])]
          target.value = ''
          take(chosen)
        }}
        className="peer sr-only"
      />
      <label htmlFor={id} className={buttonClass('quiet', addClass)}>
        <Icon name="plus" />
        {label}
        {max > 1 && <span className="text-soft">{`${files.length}/${max}`}</span>}
      </label>
      <ul className="flex flex-wrap gap-2">
        {files.map((file, at) => (
          <Item
            key={`${at} ${file.name}`}
            file={file}
            onRemove={() => {
              setRefused(undefined)
              onFiles(files.filter((_, other) => other !== at))
            }}
          />
        ))}
      </ul>
      <p
        id={`${id}-note`}
        role={refused ? 'alert' : undefined}
        className={`text-xs ${refused ? 'text-bad' : 'text-soft'}`}
      >
        {note && <span className="mt-1 block">{note}</span>}
      </p>
    </div>
  )
}

function Item({ file, onRemove }: { readonly file: File; readonly onRemove: () => void }) {
  const t = useT()
  return (
    <li className="flex min-w-0 items-center gap-1.5 rounded border py-0.5 pl-1.5 text-xs">
      <Preview file={file} />
      <span title={file.name} className="max-w-40 truncate">
        {file.name}
      </span>
      <IconButton icon="cross" label={t('play.removeNamed', { name: file.name })} onClick={onRemove} />
    </li>
  )
}

/** The object URL of a file of this tab, valid while it is drawn. */
export function useFileAddress(file: File | undefined): string | undefined {
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (!file) return setAddress(undefined)
    const made = URL.createObjectURL(file)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return address
}

function Preview({ file }: { readonly file: File }) {
  const address = useFileAddress(file.type.startsWith('image/') ? file : undefined)
  return address === undefined ? (
    <Icon name={file.type.startsWith('image/') ? 'image' : 'tasks'} />
  ) : (
    <img src={address} alt="" className="size-6 rounded object-cover" />
  )
}
