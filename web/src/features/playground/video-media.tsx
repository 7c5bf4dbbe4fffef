/** First and last frames, and reference media. If a model accepts only one of the two, the other is disabled. */
import type { VideoFacts } from '../../lib/api-types.gen.ts'
import { useT, type Key } from '../../lib/language.ts'
import { TextArea } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { FilesField } from './files-field.tsx'
import { pictureTypes } from './image.tsx'
import { hasFrames, hasReferences, type Media } from './video-options.ts'

type Props = { readonly facts: VideoFacts; readonly media: Media; readonly onChange: (media: Media) => void }
type Zone = { readonly name: 'first' | 'last' | 'images' | 'videos' | 'audios'; readonly max: number }

export function MediaFields({ facts, media, onChange }: Props) {
  const t = useT()
  const isEither = !facts.mixesFramesWithReferences
  const noFrames = isEither && hasReferences(media) ? t('play.video.noFrames') : undefined
  const noReferences = isEither && hasFrames(media) ? t('play.video.noReferences') : undefined
  const zone = ({ name, max }: Zone, accept: readonly string[], closed: string | undefined) =>
    max > 0 ? (
      <FilesField
        label={t(`play.${name}`)}
        accept={accept}
        max={max}
        files={media[name]}
        onFiles={(files) => onChange({ ...media, [name]: files })}
        closed={closed}
      />
    ) : null
  const lastClosed = media.first.length === 0 ? t('play.video.lastNeedsFirst') : undefined
  const addresses = (name: 'videoUrls' | 'audioUrls', max: number) =>
    max > 0 && (
      <TextArea
        label={t(`play.${name}` as Key)}
        rows={2}
        value={media[name]}
        disabled={noReferences !== undefined}
        onChange={(event) => onChange({ ...media, [name]: event.target.value })}
        className="font-mono text-xs"
      />
    )
  const { referenceVideosMax: videosMax, referenceAudiosMax: audiosMax } = facts
  return (
    <>
      {zone({ name: 'first', max: facts.frames === 'none' ? 0 : 1 }, pictureTypes, noFrames)}
      {zone({ name: 'last', max: facts.frames === 'first_last' ? 1 : 0 }, pictureTypes, noFrames ?? lastClosed)}
      {zone({ name: 'images', max: facts.referenceImagesMax }, pictureTypes, noReferences)}
      {videosMax + audiosMax > 0 && (
        <Fold title={t('play.moreReferences')}>
          {zone({ name: 'videos', max: videosMax }, ['video/*'], noReferences)}
          {addresses('videoUrls', videosMax)}
          {zone({ name: 'audios', max: audiosMax }, ['audio/*'], noReferences)}
          {addresses('audioUrls', audiosMax)}
        </Fold>
      )}
    </>
  )
}
