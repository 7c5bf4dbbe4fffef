import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { VideoFacts } from '../../lib/api-types.gen.ts'
import { useT, type Key } from '../../lib/language.ts'
import { postGateway } from '../../lib/gateway.ts'
import { columnOf, shortPrice } from '../../lib/money.ts'
import { useToken } from '../../lib/play-token.ts'
import { start, useStarted } from '../../lib/started.ts'
import type { VideoWanted } from '../../lib/video-wanted.ts'
import { Empty } from '../../ui/page.tsx'
import { Studio, type StudioProps } from './studio.tsx'
import { costOf, type VideoCost } from './video-cost.ts'
import { Money } from '../../ui/text.tsx'
import { VideoFields } from './video-fields.tsx'
import { MediaFields } from './video-media.tsx'
import { bodyOf, contentOf, noMedia, problemOf, videosOf, wishOf, type Media } from './video-options.ts'
import { Watched } from './watched.tsx'

type Props = StudioProps & { readonly begun: VideoWanted | undefined }

/** Every video model declares its options. */
export function VideoStudio(props: Props) {
  const { video } = props.model
  return video && <Making {...props} facts={video} />
}

function Making({ account, model, facts, begun = {}, ...props }: Props & { readonly facts: VideoFacts }) {
  const t = useT()
  const token = useToken(account)
  const [wanted, setWanted] = useState<VideoWanted>(begun)
  const [media, setMedia] = useState<Media>(noMedia)
  const started = useStarted().filter((one) => one.account === account)
  const wish = wishOf(facts, wanted)
  const cost = costOf(model, facts, { wish, withVideo: videosOf(media) > 0 })
  const problem = problemOf(facts, wish, media) ?? (cost ? undefined : ({ key: 'play.video.noPrice' } as const))
  const values = problem && 'values' in problem ? problem.values : undefined
  const submitting = useMutation({
    mutationFn: async (prompt: string) => {
      const body = bodyOf(model.id, wish, await contentOf(prompt, media))
      const response = await postGateway(token, 'videos', body)
      const [poster] = [...media.first, ...media.images]
      start({
        account,
        request: response.headers.get('x-request-id') ?? '',
        model: model.id,
        poster: poster && URL.createObjectURL(poster),
      })
    },
  })
  return (
    <Studio
      {...props}
      model={model}
      cost={cost && <Cost cost={cost} />}
      isBusy={submitting.isPending}
      error={submitting.error}
      obstacle={problem && t(problem.key, values && { ...values, what: wordOf(values['what'], t) })}
      isPromptFree={media.first.length + media.images.length + videosOf(media) > 0}
      submit={t('play.generate')}
      onSubmit={submitting.mutate}
      results={
        <>
          {started.length === 0 && <Empty>{t('play.emptyVideo')}</Empty>}
          {started.map((one) => (
            <Watched key={one.request} started={one} />
          ))}
          {started.length > 0 && (
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
          )}
        </>
      }
    >
      <VideoFields
        facts={facts}
        wish={wish}
        wanted={wanted}
        onChange={(change) => setWanted({ ...wanted, ...change })}
      />
      <MediaFields facts={facts} media={media} onChange={setMedia} />
    </Studio>
  )
}

const wordOf = (key: unknown, t: (key: Key) => string): string => (typeof key === 'string' ? t(key as Key) : '')

function Cost({ cost: { making, upscaling, isBound } }: { readonly cost: VideoCost }) {
  const t = useT()
  const all = making + (upscaling ?? 0n)
  const shown = upscaling === undefined ? shortPrice : columnOf([making, upscaling, all].map(String))
  return (
    <>
      {upscaling !== undefined && (
        <dl className="mb-1 grid grid-cols-[1fr_auto] gap-x-3 font-normal text-soft">
          <dt>{t('charge.videos')}</dt>
          <dd className="text-right">
            <Money amount={making} show={shown} />
          </dd>
          <dt>{t('charge.videos.upscale')}</dt>
          <dd className="text-right">
            <Money amount={upscaling} show={shown} />
          </dd>
        </dl>
      )}
      {t(isBound ? 'play.costsAtMost' : 'play.willCost', { price: shown(all) })}
    </>
  )
}
