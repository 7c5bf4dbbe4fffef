/** The input for the next message. Images are added by choosing, pasting or dropping them. */
import {
  useId,
  useRef,
  useState,
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type SyntheticEvent,
} from 'react'
import { useT } from '../../lib/language.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { attach, pictureTypes } from './attachments.ts'
import type { AttachedPicture } from './messages.ts'
import type { Problem } from './settings.ts'

export type Draft = { readonly text: string; readonly pictures: readonly AttachedPicture[] }
export const noDraft: Draft = { text: '', pictures: [] }
export const isEmpty = ({ text, pictures }: Draft): boolean => text.trim() === '' && pictures.length === 0

type Props = {
  readonly draft: Draft
  readonly onDraft: (change: (draft: Draft) => Draft) => void
  /** The reason why nothing can be sent now. */
  readonly obstacle: string | undefined
  /** The reason why no image can be added. Undefined: images can be added. */
  readonly noPictures: string | undefined
  /** Bytes and count of all images in the conversation, including the draft. */
  readonly bytes: number
  readonly isBusy: boolean
  readonly onSend: () => void
  readonly onStop: () => void
}

export function Composer({ draft, onDraft, obstacle, noPictures, bytes, isBusy, onSend, onStop }: Props) {
  const t = useT()
  const noteId = useId()
  const { problem, forgive, take } = usePictures({ draft, onDraft, noPictures, bytes })
  const isReady = !isBusy && obstacle === undefined && !isEmpty(draft)
  const send = (event: SyntheticEvent): void => {
    event.preventDefault()
    if (!isReady) return
    forgive()
    onSend()
  }
  const onKey = (event: KeyboardEvent): void => {
    // Enter also confirms the text of an input method. That must not send the message.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    take([...event.dataTransfer.files])
  }
  const paste = (event: ClipboardEvent): void => {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    take([...event.clipboardData.files])
  }
  const said = problem ? t(problem.key, problem.values) : obstacle
  return (
    <form onSubmit={send} onDragOver={(event) => event.preventDefault()} onDrop={drop} className="border-t p-3">
      <Pictures pictures={draft.pictures} onChange={(pictures) => onDraft((now) => ({ ...now, pictures }))} />
      <div className="flex items-end gap-2">
        <AddPictures noPictures={noPictures} onTake={take} />
        <textarea
          aria-label={t('play.message')}
          aria-describedby={noteId}
          placeholder={t('play.messageHint')}
          rows={2}
          value={draft.text}
          onChange={({ target: { value: text } }) => onDraft((now) => ({ ...now, text }))}
          onKeyDown={onKey}
          onPaste={paste}
          className="field max-h-48 resize-y py-1.5"
        />
        {isBusy ? (
          <Button icon="stop" onClick={onStop}>
            {t('play.stop')}
          </Button>
        ) : (
          <Button kind="primary" type="submit" disabled={!isReady}>
            {t('play.send')}
          </Button>
        )}
      </div>
      <p id={noteId} role="status" className="text-xs text-warn">
        {said && <span className="mt-1.5 block">{said}</span>}
      </p>
    </form>
  )
}

type Taking = {
  /** The reason why a file was refused. */
  readonly problem: Problem | undefined
  readonly forgive: () => void
  readonly take: (files: readonly File[]) => void
}

/** Adds files to the draft if they are images and there is room. */
function usePictures({
  draft,
  onDraft,
  noPictures,
  bytes,
}: Pick<Props, 'draft' | 'onDraft' | 'noPictures' | 'bytes'>): Taking {
  const [problem, setProblem] = useState<Problem>()
  const take = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return
    if (noPictures !== undefined) return setProblem({ key: 'play.noPictures' })
    const { added, problem: wrong } = await attach(files, { count: draft.pictures.length, bytes })
    // The user may have typed in the meantime.
    onDraft((now) => ({ ...now, pictures: [...now.pictures, ...added] }))
    setProblem(wrong)
  }
  return { problem, forgive: () => setProblem(undefined), take: (files) => void take(files) }
}

type AddProps = Pick<Props, 'noPictures'> & { readonly onTake: (files: readonly File[]) => void }

function AddPictures({ noPictures, onTake }: AddProps) {
  const t = useT()
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={pictureTypes.join()}
        aria-label={t('play.addPictures')}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])]
          target.value = ''
          onTake(files)
        }}
      />
      <IconButton
        icon="image"
        label={noPictures ?? t('play.addPictures')}
        disabled={noPictures !== undefined}
        onClick={() => input.current?.click()}
        className="!size-8 border border-edge"
      />
    </>
  )
}

type PicturesProps = {
  readonly pictures: readonly AttachedPicture[]
  /** Absent: the images are shown without a remove button. */
  readonly onChange?: (pictures: readonly AttachedPicture[]) => void
}

export function Pictures({ pictures, onChange }: PicturesProps) {
  const t = useT()
  if (pictures.length === 0) return null
  return (
    <ul aria-label={t('play.pictures')} className="mb-2 flex flex-wrap gap-2">
      {pictures.map((picture, at) => (
        <li key={at} className="relative">
          <img
            src={picture.address}
            alt={picture.name}
            className={`max-w-full rounded border object-cover ${onChange ? 'size-16' : 'max-h-40'}`}
          />
          {onChange && (
            <IconButton
              icon="cross"
              label={t('play.removeNamed', { name: picture.name })}
              onClick={() => onChange(pictures.filter((_, other) => other !== at))}
              className="!absolute -top-1.5 -right-1.5 !size-6 border bg-panel"
            />
          )}
        </li>
      ))}
    </ul>
  )
}
