import { useState, type KeyboardEvent, type SyntheticEvent } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, Failure } from '../../ui/page.tsx'
import { CodeBlock, CopyButton } from '../../ui/text.tsx'
import { Charge } from './charge.tsx'
import { bodyOf, useConversation, type Message, type Settings } from './conversation.ts'
import { ModelPicker } from './model-picker.tsx'
import type { StudioProps } from './studio.tsx'
import { useToken } from './token.ts'

export function Chat({ account, models, model, onModel }: StudioProps) {
  const t = useT()
  const [system, setSystem] = useState('')
  const [temperature, setTemperature] = useState('')
  const [maxTokens, setMaxTokens] = useState('')
  const [isCode, setCode] = useState(false)
  const { messages, error, isBusy, ask, stop, clear } = useConversation(useToken(account))
  const settings: Settings = { model: model.id, system, temperature, maxTokens }
  return (
    <div className="grid gap-4 lg:grid-cols-[1fr_17rem]">
      <div className="flex min-h-[60vh] min-w-0 flex-col rounded-lg border bg-panel">
        <div
          role="log"
          aria-label={t('play.conversation')}
          tabIndex={0}
          className="max-h-[60vh] grow space-y-4 overflow-y-auto p-4"
        >
          {messages.length === 0 && <Empty>{t('play.emptyChat')}</Empty>}
          {messages.map((message, at) => (
            <Said key={at} account={account} message={message} />
          ))}
          {error !== undefined && <Failure error={error} />}
        </div>
        <Composer isBusy={isBusy} onSend={(text) => void ask(text, settings)} onStop={stop} />
      </div>
      <aside aria-label={t('play.settings')} className="space-y-3 rounded-lg border bg-panel p-4">
        <ModelPicker models={models} model={model} onChoose={onModel} />
        <TextArea label={t('play.system')} value={system} onChange={(event) => setSystem(event.target.value)} />
        <TextField
          label={t('play.temperature')}
          inputMode="decimal"
          pattern="[01](\.\d+)?|2(\.0+)?"
          placeholder={t('play.default')}
          value={temperature}
          onChange={(event) => setTemperature(event.target.value)}
        />
        <TextField
          label={t('play.maxTokens')}
          inputMode="numeric"
          pattern="[1-9]\d*"
          placeholder={t('play.default')}
          value={maxTokens}
          onChange={(event) => setMaxTokens(event.target.value)}
        />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setCode(true)}>{t('play.code')}</Button>
          <Button kind="quiet" disabled={messages.length === 0} onClick={clear}>
            {t('play.clear')}
          </Button>
        </div>
      </aside>
      <Dialog open={isCode} onClose={() => setCode(false)} title={t('play.code')} wide>
        <AsCode settings={settings} messages={messages} />
      </Dialog>
    </div>
  )
}

function Said({ account, message }: { readonly account: string; readonly message: Message }) {
  const t = useT()
  const { role, text, state, requestId } = message
  const isEnded = state === 'done' || state === 'stopped'
  return (
    <div className={role === 'user' ? 'ml-8 rounded-md bg-sunken px-3 py-2' : 'mr-8'}>
      <p className="mb-0.5 flex items-center gap-1 text-xs text-soft">
        {t(`play.${role}`)}
        {state === 'stopped' && ` · ${t('play.stopped')}`}
        {role === 'assistant' && text !== '' && <CopyButton text={text} />}
      </p>
      <p className="break-words whitespace-pre-wrap">
        {text}
        {state === 'coming' && (
          <span
            aria-label={t('play.coming')}
            className="ml-0.5 inline-block h-3.5 w-1.5 animate-pulse bg-accent align-middle"
          />
        )}
      </p>
      {role === 'assistant' && isEnded && requestId && <Charge account={account} requestId={requestId} />}
    </div>
  )
}

type ComposerProps = { readonly isBusy: boolean; readonly onSend: (text: string) => void; readonly onStop: () => void }

function Composer({ isBusy, onSend, onStop }: ComposerProps) {
  const t = useT()
  const [text, setText] = useState('')
  const send = (event?: SyntheticEvent): void => {
    event?.preventDefault()
    if (isBusy || text.trim() === '') return
    onSend(text.trim())
    setText('')
  }
  const onKey = (event: KeyboardEvent): void => {
    // Enter also ends what an input method is about to write.
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
  }
  return (
    <form onSubmit={send} className="flex items-end gap-2 border-t p-3">
      <textarea
        aria-label={t('play.message')}
        placeholder={t('play.messageHint')}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        className="field max-h-48 resize-y py-1.5"
      />
      {isBusy ? (
        <Button icon="stop" onClick={onStop}>
          {t('play.stop')}
        </Button>
      ) : (
        <Button kind="primary" type="submit" disabled={text.trim() === ''}>
          {t('play.send')}
        </Button>
      )}
    </form>
  )
}

function AsCode({ settings, messages }: { readonly settings: Settings; readonly messages: readonly Message[] }) {
  const t = useT()
  const me = useMe()
  const said = messages.length > 0 ? messages : [{ role: 'user', text: 'Hello', state: 'done' } as const]
  const text = [
    `curl ${clientBaseUrl(me)}/chat/completions \\`,
    '  -H "Authorization: Bearer $TOLLGATE_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(bodyOf(settings, said), null, 2).replaceAll("'", String.raw`'\''`)}'`,
  ].join('\n')
  return <CodeBlock label={t('play.code')} text={text} />
}
