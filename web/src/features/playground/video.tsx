import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { callGateway, postGateway } from '../../lib/gateway.ts'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import type { Model, VideoFacts } from '../../lib/models.ts'
import { duration } from '../../lib/time.ts'
import { Player } from '../../parts/player.tsx'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea } from '../../ui/field.tsx'
import { Empty, Failure, Note } from '../../ui/page.tsx'
import { Id } from '../../ui/text.tsx'
import { FileField } from './file-field.tsx'
import { ModelPicker } from './model-picker.tsx'
import { useToken } from './token.ts'
import { contentOf, priceOf, type Frames } from './videos.ts'

type Props = {
  readonly account: string
  readonly models: readonly Model[]
  readonly model: Model
  readonly onModel: (id: string) => void
}
type VideoTask = {
  readonly id: string
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed'
  readonly progress: number
  readonly created_at: number
  readonly error?: { readonly message: string }
}

/** Of a model of which nothing is said: what the public contract has. */
const open: VideoFacts = {
  resolutions: ['480p', '720p', '1080p'],
  resolutionDefault: '720p',
  ratios: ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', 'adaptive'],
  durations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  durationDefault: 5,
  frames: 'first_last',
  referenceImagesMax: 9,
  mixesFramesWithReferences: true,
}
const pictures = 'image/png,image/jpeg,image/webp'

export function VideoStudio({ account, models, model, onModel }: Props) {
  const t = useT()
  const token = useToken(account)
  const facts = model.video ?? open
  const [prompt, setPrompt] = useState('')
  const [wanted, setWanted] = useState({ resolution: '', ratio: '', seconds: '' })
  const [frames, setFrames] = useState<Frames>({})
  const among = (list: readonly string[], value: string, otherwise: string): string =>
    list.includes(value) ? value : otherwise
  const durations = facts.durations.map(String)
  const resolution = among(facts.resolutions, wanted.resolution, facts.resolutionDefault)
  const ratio = among(facts.ratios, wanted.ratio, facts.ratios[0] ?? '16:9')
  const seconds = Number(among(durations, wanted.seconds, String(facts.durationDefault)))
  const price = priceOf(model, resolution, seconds)
  const submitting = useMutation({
    mutationFn: async () => {
      const content = await contentOf(prompt, frames)
      const response = await postGateway(await token(), 'videos', {
        model: model.id,
        content,
        resolution,
        ratio,
        duration: seconds,
      })
      return (await response.json()) as VideoTask
    },
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    submitting.mutate()
  }
  const hasFrames = frames.first !== undefined || frames.last !== undefined
  return (
    <div className="grid gap-4 lg:grid-cols-[22rem_1fr]">
      <form
        onSubmit={submit}
        aria-label={t('play.settings')}
        className="space-y-3 self-start rounded-lg border bg-panel p-4"
      >
        <ModelPicker models={models} model={model} onChoose={onModel} />
        <TextArea
          label={t('play.prompt')}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          required
        />
        <div className="grid grid-cols-3 gap-3">
          <SelectField
            label={t('play.resolution')}
            value={resolution}
            choices={choicesOf(facts.resolutions)}
            onChoose={(value) => setWanted({ ...wanted, resolution: value })}
          />
          <SelectField
            label={t('play.ratio')}
            value={ratio}
            choices={choicesOf(facts.ratios)}
            onChoose={(value) => setWanted({ ...wanted, ratio: value })}
          />
          <SelectField
            label={t('play.seconds')}
            value={String(seconds)}
            choices={choicesOf(durations)}
            onChoose={(value) => setWanted({ ...wanted, seconds: value })}
          />
        </div>
        {facts.frames !== 'none' && (
          <FileField
            label={t('play.firstFrame')}
            accept={pictures}
            file={frames.first}
            onFile={(first) => setFrames({ ...frames, first })}
            disabled={!facts.mixesFramesWithReferences && frames.reference !== undefined}
          />
        )}
        {facts.frames === 'first_last' && (
          <FileField
            label={t('play.lastFrame')}
            accept={pictures}
            file={frames.last}
            onFile={(last) => setFrames({ ...frames, last })}
            disabled={!facts.mixesFramesWithReferences && frames.reference !== undefined}
          />
        )}
        {facts.referenceImagesMax > 0 && (
          <FileField
            label={t('play.reference')}
            accept={pictures}
            file={frames.reference}
            onFile={(reference) => setFrames({ ...frames, reference })}
            disabled={!facts.mixesFramesWithReferences && hasFrames}
          />
        )}
        <p className="font-medium">
          {price === undefined ? t('play.byTokens') : t('play.willCost', { price: exact(price) })}
        </p>
        <Button
          kind="primary"
          type="submit"
          busy={submitting.isPending}
          disabled={prompt.trim() === ''}
          className="w-full"
        >
          {t('play.generate')}
        </Button>
        {submitting.error && <Failure error={submitting.error} />}
      </form>
      <section aria-label={t('play.gallery')} aria-live="polite" className="min-w-0">
        {submitting.data ? (
          <Watched key={submitting.data.id} account={account} task={submitting.data} token={token} />
        ) : (
          <Empty>{t('play.emptyVideo')}</Empty>
        )}
      </section>
    </div>
  )
}

const choicesOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }))

const isOver = (status: VideoTask['status'] | undefined): boolean => status === 'completed' || status === 'failed'

type WatchedProps = { readonly account: string; readonly task: VideoTask; readonly token: () => Promise<string> }

function Watched({ account, task, token }: WatchedProps) {
  const t = useT()
  const { data, error } = useQuery({
    queryKey: ['video', task.id],
    queryFn: async () =>
      (await (await callGateway(await token(), `videos/${encodeURIComponent(task.id)}`)).json()) as VideoTask,
    initialData: task,
    staleTime: 0,
    refetchInterval: ({ state }) => (isOver(state.data?.status) ? false : 1_500),
  })
  return (
    <div className="space-y-3 rounded-lg border bg-panel p-4">
      <div className="flex flex-wrap items-center gap-3">
        <TaskProgress task={data} />
        {!isOver(data.status) && <span className="text-soft">{duration(Date.now() - data.created_at * 1_000)}</span>}
        <Id id={data.id} />
      </div>
      {error && <Failure error={error} />}
      {data.status === 'failed' && <Note kind="bad">{t('play.refunded', { why: data.error?.message ?? '' })}</Note>}
      {data.status === 'completed' && <Player task={data.id} />}
      <p className="text-xs text-soft">
        {t('play.taskHint')}{' '}
        <Link
          to="/a/$account/tasks"
          params={{ account }}
          search={{ kind: 'video' }}
          className="underline hover:text-ink"
        >
          {t('nav.tasks')}
        </Link>
      </p>
    </div>
  )
}
