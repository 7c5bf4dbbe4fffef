import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import type { ImageFacts } from '../../lib/models.ts'
import { buttonClass } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Empty } from '../../ui/page.tsx'
import { Charge } from './charge.tsx'
import { FileField } from './file-field.tsx'
import { MaskBrush } from './mask-brush.tsx'
import { make, priceOf, type Made, type Picture, type Wish } from './pictures.ts'
import { choicesOf, Studio, type StudioProps } from './studio.tsx'
import { useToken } from './token.ts'

type Wanted = { readonly size: string; readonly quality: string; readonly count: string }

/** As far as the model knows what is wanted; otherwise what it does by itself. */
function wishOf(facts: ImageFacts | null, { size, quality, count }: Wanted): Pick<Wish, 'size' | 'quality' | 'count'> {
  return {
    size: facts?.sizes.includes(size) ? size : (facts?.sizeDefault ?? ''),
    quality: facts?.qualities.includes(quality) ? quality : (facts?.qualityDefault ?? ''),
    count: Math.max(1, Math.min(Number(count) || 1, facts?.countMax ?? 1)),
  }
}

export function ImageStudio({ account, model, ...props }: StudioProps) {
  const t = useT()
  const token = useToken(account)
  const [wanted, setWanted] = useState<Wanted>({ size: '', quality: '', count: '1' })
  const [source, setSource] = useState<File>()
  const [mask, setMask] = useState<Blob>()
  const [partial, setPartial] = useState<Picture>()
  const [gallery, setGallery] = useState<readonly Made[]>([])
  const wish = wishOf(model.image, wanted)
  const edited = (model.image?.inputsMax ?? 0) > 0 ? source : undefined
  const making = useMutation({
    mutationFn: async (prompt: string) =>
      make(await token(), model, { ...wish, prompt, ...(edited && { source: edited, mask }) }, setPartial),
    onSuccess: (made) => setGallery((all) => [made, ...all]),
    onSettled: () => setPartial(undefined),
  })
  const takeSource = (file: File | undefined): void => {
    setSource(file)
    setMask(undefined)
  }
  return (
    <Studio
      {...props}
      model={model}
      price={priceOf(model, wish)}
      isBusy={making.isPending}
      error={making.error}
      submit={t(edited ? 'play.edit' : 'play.generate')}
      onSubmit={making.mutate}
      results={
        <>
          {partial && (
            <img
              src={partial.address}
              alt={t('play.partial')}
              className="max-h-[50vh] max-w-full rounded-md border opacity-70"
            />
          )}
          {gallery.length === 0 && !partial && <Empty>{t('play.emptyImage')}</Empty>}
          {gallery.map((made, at) => (
            <Result key={gallery.length - at} account={account} made={made} />
          ))}
        </>
      }
    >
      {model.image && <Wishes facts={model.image} wish={wish} wanted={wanted} onChange={setWanted} />}
      {(model.image?.inputsMax ?? 0) > 0 && (
        <FileField
          label={t('play.source')}
          accept="image/png,image/jpeg,image/webp"
          file={source}
          onFile={takeSource}
        />
      )}
      {edited && <MaskBrush key={edited.name + edited.lastModified} file={edited} onMask={setMask} />}
    </Studio>
  )
}

type WishesProps = {
  readonly facts: ImageFacts
  readonly wish: Pick<Wish, 'size' | 'quality'>
  readonly wanted: Wanted
  readonly onChange: (wanted: Wanted) => void
}

/** What may be asked of this model. */
function Wishes({ facts, wish, wanted, onChange }: WishesProps) {
  const t = useT()
  return (
    <div className="grid grid-cols-2 gap-3">
      {facts.sizes.length > 0 && (
        <SelectField
          label={t('play.size')}
          value={wish.size}
          choices={choicesOf(facts.sizes)}
          onChoose={(size) => onChange({ ...wanted, size })}
        />
      )}
      {facts.qualities.length > 0 && (
        <SelectField
          label={t('play.quality')}
          value={wish.quality}
          choices={choicesOf(facts.qualities)}
          onChoose={(quality) => onChange({ ...wanted, quality })}
        />
      )}
      {!facts.isSingle && facts.countMax > 1 && (
        <TextField
          label={t('play.count')}
          type="number"
          min={1}
          max={facts.countMax}
          value={wanted.count}
          onChange={(event) => onChange({ ...wanted, count: event.target.value })}
        />
      )}
    </div>
  )
}

function Result({ account, made }: { readonly account: string; readonly made: Made }) {
  const t = useT()
  return (
    <div className="space-y-2 rounded-lg border bg-panel p-3">
      <div className="flex flex-wrap gap-3">
        {made.pictures.map(({ address }, at) => (
          <figure key={address.slice(-64) + at} className="min-w-0">
            <img
              src={address}
              alt={t('play.result', { n: at + 1 })}
              className="max-h-[45vh] max-w-full rounded-md border"
            />
            <a href={address} download={`image-${at + 1}.png`} className={buttonClass('quiet', 'mt-1')}>
              {t('task.download')}
            </a>
          </figure>
        ))}
      </div>
      {made.requestId && <Charge account={account} requestId={made.requestId} />}
    </div>
  )
}
