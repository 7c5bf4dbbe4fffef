/** The options of a video model besides its prompt and its images. */
import type { VideoFacts } from '../../lib/api-types.gen.ts'
import { useT, type Key } from '../../lib/language.ts'
import type { VideoWanted } from '../../lib/video-wanted.ts'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { Fold } from '../../ui/fold.tsx'
import { choicesOf } from './studio.tsx'
import { largerThan, scenes, secondsOf, versions, type VideoOptions } from './video-options.ts'

type Props = {
  readonly facts: VideoFacts
  readonly wish: VideoOptions
  readonly wanted: VideoWanted
  readonly onChange: (change: VideoWanted) => void
}

export function VideoFields({ facts, wish, wanted, onChange }: Props) {
  const t = useT()
  const seconds = secondsOf(facts).map((value) => ({ value, label: value === '-1' ? t('play.secondsAuto') : value }))
  const toggle = (name: 'audio' | 'watermark' | 'webSearch') => (
    <Checkbox
      label={t(`play.${name}`)}
      checked={wish[name]}
      onChange={(event) => onChange({ [name]: event.target.checked ? 'on' : 'off' })}
    />
  )
  return (
    <>
      <div className="grid grid-cols-3 gap-3">
        <SelectField
          label={t('play.resolution')}
          value={wish.resolution}
          choices={choicesOf(facts.resolutions)}
          onChoose={(resolution) => onChange({ resolution })}
        />
        <SelectField
          label={t('play.ratio')}
          value={wish.ratio}
          choices={choicesOf(facts.ratios)}
          onChoose={(ratio) => onChange({ ratio })}
        />
        <SelectField
          label={t('play.seconds')}
          value={String(wish.seconds)}
          choices={seconds}
          onChoose={(value) => onChange({ seconds: value })}
        />
      </div>
      {facts.audio === 'optional' && toggle('audio')}
      {facts.audio === 'always' && <p className="text-xs text-soft">{t('play.audioAlways')}</p>}
      {facts.upscales && <UpscaleFields wish={wish} wanted={wanted} onChange={onChange} />}
      {(facts.seed || facts.watermark || facts.webSearch) && (
        <Fold title={t('play.more')}>
          {facts.seed && (
            <TextField
              label={t('play.seed')}
              inputMode="numeric"
              placeholder={t('play.seedHint')}
              value={wanted.seed ?? ''}
              onChange={(event) => onChange({ seed: event.target.value })}
            />
          )}
          {facts.watermark && toggle('watermark')}
          {facts.webSearch && toggle('webSearch')}
        </Fold>
      )}
    </>
  )
}

function UpscaleFields({ wish, wanted, onChange }: Omit<Props, 'facts'>) {
  const t = useT()
  const { upscale } = wish
  const larger = largerThan(wish.resolution)
  const kind = wanted.upscale === 'edge' || wanted.upscale === 'same' ? wanted.upscale : (upscale?.resolution ?? '')
  return (
    <fieldset className="min-w-0 space-y-3 rounded-md border p-3">
      <legend className="sr-only">{t('play.upscale')}</legend>
      <Checkbox
        label={t('play.upscale')}
        hint={t('play.upscaleHint')}
        checked={upscale !== undefined}
        onChange={(event) => onChange({ upscale: event.target.checked ? (larger[0] ?? 'same') : '' })}
      />
      {upscale && (
        <div className="grid grid-cols-2 gap-3">
          <SelectField
            label={t('play.upscaleTo')}
            value={kind}
            choices={[
              ...choicesOf(larger),
              { value: 'edge', label: t('play.upscale.edge') },
              { value: 'same', label: t('play.upscale.same') },
            ]}
            onChoose={(value) => onChange({ upscale: value })}
          />
          {kind === 'edge' && (
            <TextField
              label={t('play.edge')}
              inputMode="numeric"
              value={wanted.edge ?? ''}
              onChange={(event) => onChange({ edge: event.target.value })}
            />
          )}
          <SelectField
            label={t('play.scene')}
            value={upscale.scene ?? ''}
            choices={['', ...scenes].map((value) => ({
              value,
              label: value === '' ? t('play.default') : t(`play.scene.${value}` as Key),
            }))}
            onChoose={(scene) => onChange({ scene })}
          />
          <SelectField
            label={t('play.version')}
            value={upscale.version}
            choices={versions.map((value) => ({ value: value as string, label: t(`play.version.${value}`) }))}
            onChoose={(version) => onChange({ version })}
          />
          <TextField
            label={t('play.fps')}
            inputMode="numeric"
            placeholder={t('play.fpsHint')}
            value={wanted.fps ?? ''}
            onChange={(event) => onChange({ fps: event.target.value })}
          />
        </div>
      )}
    </fieldset>
  )
}
