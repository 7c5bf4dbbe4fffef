import { useState } from 'react'
import { useT, type Key } from '../../lib/language.ts'
import { useToken } from '../../lib/play-token.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Empty, Failure } from '../../ui/page.tsx'
import { AsCode } from './as-code.tsx'
import { Composer, isEmpty, noDraft, type Draft } from './composer.tsx'
import { useConversation } from './conversation.ts'
import { useFollow } from './follow.ts'
import { bodyOf, bytesIn, openCalls, type Call, type Message } from './messages.ts'
import { ModelPicker } from './model-picker.tsx'
import { Parameters } from './parameters.tsx'
import { ResultsForm, SaidView } from './said.tsx'
import { noSettings, problemsOf, type Settings } from './settings.ts'
import type { StudioProps } from './studio.tsx'

const saidOf = ({ text, pictures }: Draft): Message => ({ role: 'user', text: text.trim(), pictures })

/** The messages to send: with the draft, or the last message again. */
function nextOf(messages: readonly Message[], draft: Draft, hello: string): readonly Message[] {
  if (!isEmpty(draft)) return [...messages, saidOf(draft)]
  const last = messages.findLastIndex(({ role }) => role !== 'assistant')
  return last < 0 ? [saidOf({ text: hello, pictures: [] })] : messages.slice(0, last + 1)
}

type Standing = { readonly isBlind: boolean; readonly isWrong: boolean; readonly isWaiting: boolean }

/** The reason why nothing can be sent now. */
function obstacleOf({ isBlind, isWrong, isWaiting }: Standing): Key | undefined {
  if (isBlind) return 'play.picturesBefore'
  if (isWrong) return 'play.settingsWrong'
  return isWaiting ? 'play.resultsFirst' : undefined
}

export function Chat({ account, models, model, onModel }: StudioProps) {
  const t = useT()
  const [settings, setSettings] = useState<Settings>(noSettings)
  const [draft, setDraft] = useState<Draft>(noDraft)
  const [isCode, setCode] = useState(false)
  const { messages, error, isBusy, run, stop, clear } = useConversation(useToken(account))
  const problems = problemsOf(settings)
  const isWrong = Object.keys(problems).length > 0
  const bytes = bytesIn([...messages, saidOf(draft)])
  const waiting = isBusy ? [] : openCalls(messages)
  const obstacle = obstacleOf({ isBlind: !model.takes_pictures && bytes > 0, isWrong, isWaiting: waiting.length > 0 })
  const canRun = !isBusy && !isWrong
  const go = (said: readonly Message[]): void => {
    if (canRun) void run(said, bodyOf(model.id, settings, said))
  }
  const send = (): void => {
    go([...messages, saidOf(draft)])
    setDraft(noDraft)
  }
  return (
    <div className="grid gap-4 lg:grid-cols-[1fr_19rem]">
      <div className="flex min-h-[60vh] min-w-0 flex-col self-start rounded-lg border bg-panel">
        <Log account={account} messages={messages} waiting={waiting} error={error} canRun={canRun} onSay={go} />
        <Composer
          draft={draft}
          onDraft={setDraft}
          obstacle={obstacle && t(obstacle)}
          noPictures={model.takes_pictures ? undefined : t('play.noPictures')}
          bytes={bytes}
          isBusy={isBusy}
          onSend={send}
          onStop={stop}
        />
      </div>
      <aside aria-label={t('play.settings')} className="min-w-0 space-y-3 self-start rounded-lg border bg-panel p-4">
        <ModelPicker models={models} model={model} onChoose={onModel} />
        <Parameters
          settings={settings}
          problems={problems}
          onChange={(change) => setSettings({ ...settings, ...change })}
        />
        <div className="flex flex-wrap gap-2">
          <Button disabled={isWrong} onClick={() => setCode(true)}>
            {t('play.code')}
          </Button>
          <Button kind="quiet" disabled={messages.length === 0} onClick={clear}>
            {t('play.clear')}
          </Button>
        </div>
      </aside>
      <Dialog open={isCode} onClose={() => setCode(false)} title={t('play.code')} wide>
        {!isWrong && <AsCode body={bodyOf(model.id, settings, nextOf(messages, draft, t('play.hello')))} />}
      </Dialog>
    </div>
  )
}

type LogProps = {
  readonly account: string
  readonly messages: readonly Message[]
  /** Tool calls without a result. */
  readonly waiting: readonly Call[]
  readonly error: unknown
  readonly canRun: boolean
  /** Sends a conversation, which replaces the visible one. */
  readonly onSay: (messages: readonly Message[]) => void
}

function Log({ account, messages, waiting, error, canRun, onSay }: LogProps) {
  const t = useT()
  return (
    <div
      {...useFollow(messages)}
      role="log"
      aria-label={t('play.conversation')}
      tabIndex={0}
      className="max-h-[60vh] grow space-y-4 overflow-y-auto p-4"
    >
      {messages.length === 0 && <Empty>{t('play.emptyChat')}</Empty>}
      {messages.map((message, at) => (
        <SaidView
          key={at}
          account={account}
          message={message}
          isBusy={!canRun}
          onAgain={() => onSay(messages.slice(0, at))}
          onEdit={(text) =>
            onSay([...messages.slice(0, at), { ...message, role: 'user', text, pictures: picturesOf(message) }])
          }
        />
      ))}
      {waiting.length > 0 && (
        <ResultsForm key={messages.length} calls={waiting} onSend={(results) => onSay([...messages, ...results])} />
      )}
      {error !== undefined && <Failure error={error} />}
    </div>
  )
}

const picturesOf = (message: Message) => (message.role === 'user' ? message.pictures : [])
