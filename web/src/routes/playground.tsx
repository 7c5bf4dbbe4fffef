import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Model } from '../lib/api-types.gen.ts'
import { Chat } from '../features/playground/chat.tsx'
import { ImageStudio } from '../features/playground/image.tsx'
import { VideoStudio } from '../features/playground/video.tsx'
import { useT } from '../lib/language.ts'
import { modelsOfKindQuery } from '../lib/models.ts'
import { useCanWrite } from '../lib/session.ts'
import { Segments } from '../ui/field.tsx'
import { Empty, Failure, Note, PageHead, Panel, Waiting } from '../ui/page.tsx'

const kinds = ['chat', 'image', 'video'] as const
type Kind = (typeof kinds)[number]

const isFor =
  (kind: Kind) =>
  (model: Model): boolean =>
    kind === 'chat' ? model.kind === 'text' : model.kind === kind && model.image?.surface !== 'turn'

const studios = { chat: Chat, image: ImageStudio, video: VideoStudio } as const

export function PlaygroundPage() {
  const t = useT()
  const canWrite = useCanWrite()
  const { account } = useParams({ from: '/inside/a/$account/playground' })
  const { kind = 'chat', model: wanted, wish } = useSearch({ from: '/inside/a/$account/playground' })
  const navigate = useNavigate({ from: '/a/$account/playground' })
  const { data, error, refetch, isPlaceholderData } = useQuery(
    modelsOfKindQuery(account, kind === 'chat' ? 'text' : kind),
  )
  // While the models of another kind are loaded, no model of the previous kind is offered.
  const models = isPlaceholderData ? undefined : data?.filter(isFor(kind))
  const model = models?.find(({ id }) => id === wanted) ?? models?.[0]
  const Studio = studios[kind]
  return (
    <>
      <PageHead title={t('nav.playground')} hint={t('play.hint')}>
        <Segments
          name={t('play.kind')}
          value={kind}
          choices={kinds.map((value) => ({ value, label: t(`play.kind.${value}`) }))}
          onChoose={(value) => void navigate({ search: { kind: value } })}
        />
      </PageHead>
      {error && <Failure error={error} onRetry={refetch} />}
      {!models && !error && <Waiting />}
      {!canWrite && <Note kind="warn">{t('play.readOnly')}</Note>}
      {canWrite && models && !model && (
        <Panel>
          <Empty>{t('play.noModel')}</Empty>
        </Panel>
      )}
      {canWrite && models && model && (
        <Studio
          key={`${account} ${kind} ${kind === 'video' ? JSON.stringify(wish ?? '') : ''}`}
          account={account}
          begun={wish}
          models={models}
          model={model}
          onModel={(id) => void navigate({ search: { kind, model: id, ...(wish && { wish }) }, replace: true })}
        />
      )}
    </>
  )
}
