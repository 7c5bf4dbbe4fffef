/** A message with its author, its cost and its actions. */
import { useState, type SyntheticEvent } from 'react'
import { useT } from '../../lib/language.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { CopyButton } from '../../ui/text.tsx'
import { Charge } from './charge.tsx'
import { Pictures } from './composer.tsx'
import type { Answer, Call, Message, Result, UserMessage } from './messages.ts'

type Props = {
  readonly account: string
  readonly message: Message
  readonly isBusy: boolean
  /** Sends the message before an answer again. */
  readonly onAgain: () => void
  /** Replaces a message. The messages after it are removed. */
  readonly onEdit: (text: string) => void
}

export function SaidView({ account, message, isBusy, onAgain, onEdit }: Props) {
  switch (message.role) {
    case 'user':
      return <UserView said={message} isBusy={isBusy} onEdit={onEdit} />
    case 'assistant':
      return <AnswerView account={account} answer={message} isBusy={isBusy} onAgain={onAgain} />
    case 'tool':
      return <ResultView result={message} />
  }
}

const headLook = 'mb-0.5 flex min-h-6 items-center gap-1 text-xs text-soft'
const smallLook = '!min-h-6 !px-1.5 !py-0 text-xs'

type UserProps = { readonly said: UserMessage } & Pick<Props, 'isBusy' | 'onEdit'>

function UserView({ said, isBusy, onEdit }: UserProps) {
  const t = useT()
  const [edited, setEdited] = useState<string>()
  const save = (event: SyntheticEvent): void => {
    event.preventDefault()
    setEdited(undefined)
    onEdit(edited?.trim() ?? '')
  }
  return (
    <div className="ml-8 rounded-md bg-sunken px-3 py-2">
      <p className={headLook}>
        {t('play.user')}
        {edited === undefined && (
          <Button kind="quiet" className={smallLook} disabled={isBusy} onClick={() => setEdited(said.text)}>
            {t('play.change')}
          </Button>
        )}
      </p>
      <Pictures pictures={said.pictures} />
      {edited === undefined ? (
        <p className="break-words whitespace-pre-wrap">{said.text}</p>
      ) : (
        <form onSubmit={save} className="space-y-2">
          <TextArea
            label={t('play.changed')}
            hint={t('play.changeHint')}
            value={edited}
            onChange={(event) => setEdited(event.target.value)}
          />
          <div className="flex flex-wrap gap-2">
            <Button
              kind="primary"
              type="submit"
              disabled={isBusy || (edited.trim() === '' && said.pictures.length === 0)}
            >
              {t('play.sendChanged')}
            </Button>
            <Button onClick={() => setEdited(undefined)}>{t('cancel')}</Button>
          </div>
        </form>
      )}
    </div>
  )
}

type AnswerProps = { readonly answer: Answer } & Pick<Props, 'account' | 'isBusy' | 'onAgain'>

function AnswerView({ account, answer, isBusy, onAgain }: AnswerProps) {
  const t = useT()
  const { text, calls, state, requestId } = answer
  return (
    <div className="mr-8">
      <p className={headLook}>
        {t('play.assistant')}
        {state === 'stopped' && ` · ${t('play.stopped')}`}
        {text !== '' && <CopyButton text={text} />}
        {state !== 'coming' && (
          <Button kind="quiet" className={smallLook} disabled={isBusy} onClick={onAgain}>
            {t('play.again')}
          </Button>
        )}
      </p>
      <p className="break-words whitespace-pre-wrap">
        {text}
        {state === 'coming' && (
          <span
            role="img"
            aria-label={t('play.coming')}
            className="ml-0.5 inline-block h-3.5 w-1.5 animate-pulse bg-accent align-middle"
          />
        )}
      </p>
      {calls.map((call, at) => (
        <CallView key={at} call={call} />
      ))}
      {(state === 'done' || state === 'stopped') && requestId && <Charge account={account} requestId={requestId} />}
    </div>
  )
}

/** Formatted JSON, if it is complete. */
function setOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // Still arriving, or not JSON: shown unchanged.
  }
}

function CallView({ call }: { readonly call: Call }) {
  const t = useT()
  return (
    <div className="my-1.5 rounded-md border">
      <p className="border-b px-3 py-1 text-xs text-soft">{t('play.calls', { name: call.name })}</p>
      <pre
        tabIndex={0}
        aria-label={t('play.callInput', { name: call.name })}
        className="overflow-x-auto px-3 py-2 font-mono text-xs"
      >
        {setOut(call.arguments)}
      </pre>
    </div>
  )
}

function ResultView({ result }: { readonly result: Result }) {
  const t = useT()
  return (
    <div className="ml-8 rounded-md bg-sunken px-3 py-2">
      <p className={headLook}>{t('play.result.of', { name: result.call.name })}</p>
      <p className="font-mono text-xs break-words whitespace-pre-wrap">{result.text}</p>
    </div>
  )
}

type ResultsProps = { readonly calls: readonly Call[]; readonly onSend: (results: readonly Result[]) => void }

/** The form for tool results that the model is waiting for. */
export function ResultsForm({ calls, onSend }: ResultsProps) {
  const t = useT()
  const [texts, setTexts] = useState<Readonly<Record<number, string>>>({})
  const send = (event: SyntheticEvent): void => {
    event.preventDefault()
    onSend(calls.map((call, at) => ({ role: 'tool', call, text: texts[at] ?? '' })))
  }
  return (
    <form onSubmit={send} className="ml-8 space-y-2 rounded-md border border-edge p-3">
      {calls.map((call, at) => (
        <TextArea
          key={at}
          label={t('play.result.for', { name: call.name })}
          hint={at === 0 ? t('play.resultHint') : undefined}
          rows={2}
          value={texts[at] ?? ''}
          onChange={(event) => setTexts({ ...texts, [at]: event.target.value })}
          className="font-mono text-xs"
        />
      ))}
      <Button kind="primary" type="submit">
        {t('play.sendResults', { n: calls.length })}
      </Button>
    </form>
  )
}
