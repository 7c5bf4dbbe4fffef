import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callGateway, postGateway } from '../../lib/gateway.ts'
import { useT } from '../../lib/i18n/language.ts'
import type { VideoFacts } from '../../lib/models.ts'
import { duration } from '../../lib/time.ts'
import { Player } from '../../parts/player.tsx'
import { TaskProgress } from '../../parts/task-progress.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Empty, Failure, Note } from '../../ui/page.tsx'
import { Id } from '../../ui/text.tsx'
import { FileField } from './file-field.tsx'
import { choicesOf, Studio, type StudioProps } from './studio.tsx'
import { useToken } from './token.ts'
import { contentOf, priceOf, type Frames } from './videos.ts'

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

type Wanted = { readonly resolution: string; readonly ratio: string; readonly seconds: string }

const among = (list: readonly string[], value: string, otherwise: string): string =>
  list.includes(value) ? value : otherwise

/** As far as the model knows what is wanted; otherwise what it does by itself. */
const wishOf = (facts: VideoFacts, { resolution, ratio, seconds }: Wanted): Wanted => ({
  resolution: among(facts.resolutions, resolution, facts.resolutionDefault),
  ratio: among(facts.ratios, ratio, facts.ratios[0] ?? '16:9'),
  seconds: among(facts.durations.map(String), seconds, String(facts.durationDefault)),
})

export function VideoStudio({ account, model, ...props }: StudioProps) {
  const t = useT()
  const token = useToken(account)
  const facts = model.video ?? open
  const [wanted, setWanted] = useState<Wanted>({ resolution: '', ratio: '', seconds: '' })
  const [frames, setFrames] = useState<Frames>({})
  const wish = wishOf(facts, wanted)
  const { resolution, ratio } = wish
  const submitting = useMutation({
    mutationFn: async (prompt: string) => {
      const content = await contentOf(prompt, frames)
      const body = { model: model.id, content, resolution, ratio, duration: Number(wish.seconds) }
      return (await (await postGateway(await token(), 'videos', body)).json()) as VideoTask
    },
  })
  const choice = (name: keyof Wanted, values: readonly string[]) => (
    <SelectField
      label={t(`play.${name}`)}
      value={wish[name]}
      choices={choicesOf(values)}
      onChoose={(value) => setWanted({ ...wanted, [name]: value })}
    />
  )
  return (
    <Studio
      {...props}
      model={model}
      price={priceOf(model, resolution, Number(wish.seconds))}
      isBusy={submitting.isPending}
      error={submitting.error}
      submit={t('play.generate')}
      onSubmit={submitting.mutate}
      results={
        submitting.data ? (
          <Watched key={submitting.data.id} account={account} task={submitting.data} token={token} />
        ) : (
          <Empty>{t('play.emptyVideo')}</Empty>
        )
      }
    >
      <div className="grid grid-cols-3 gap-3">
        {choice('resolution', facts.resolutions)}
        {choice('ratio', facts.ratios)}
        {choice('seconds', facts.durations.map(String))}
      </div>
      <FrameFields facts={facts} frames={frames} onChange={setFrames} />
    </Studio>
  )
}

type FrameProps = {
  readonly facts: VideoFacts
  readonly frames: Frames
  readonly onChange: (frames: Frames) => void
}

/** Pictures to begin and end with, or to look like. Where a model takes only one kind, the other is closed. */
function FrameFields({ facts, frames, onChange }: FrameProps) {
  const t = useT()
  const isEither = !facts.mixesFramesWithReferences
  const hasFrames = frames.first !== undefined || frames.last !== undefined
  const names = [
    ...(facts.frames === 'none' ? [] : ['first' as const]),
    ...(facts.frames === 'first_last' ? ['last' as const] : []),
    ...(facts.referenceImagesMax > 0 ? ['reference' as const] : []),
  ]
  return names.map((name) => (
    <FileField
      key={name}
      label={t(`play.frame.${name}`)}
      accept={pictures}
      file={frames[name]}
      onFile={(file) => onChange({ ...frames, [name]: file })}
      disabled={isEither && (name === 'reference' ? hasFrames : frames.reference !== undefined)}
    />
  ))
}

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
