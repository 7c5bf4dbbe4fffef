import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ImageFacts, Model } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
import { keepMade, useMade, type MadePicture, type Picture } from '../../lib/made.ts'
import { shortPrice } from '../../lib/money.ts'
import { useToken } from '../../lib/play-token.ts'
import { useShow } from '../../lib/show.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Chips, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty } from '../../ui/page.tsx'
import { Charge } from './charge.tsx'
import { FilesField } from './files-field.tsx'
import { MaskBrush } from './mask-brush.tsx'
import { priceAtMost, priceOf } from './image-cost.ts'
import { lookOf, nothing, type Look, type WantedLook } from './image-look.ts'
import { make } from './pictures.ts'
import { choicesOf, Studio, type StudioProps } from './studio.tsx'

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp']

export function ImageStudio({ account, model, ...props }: StudioProps) {
  const t = useT()
  const token = useToken(account)
  const [wanted, setWanted] = useState<WantedLook>(nothing)
  const [sources, setSources] = useState<readonly File[]>([])
  const [mask, setMask] = useState<Blob>()
  const [partial, setPartial] = useState<Picture>()
  const gallery = useMade().filter((made) => made.account === account)
  const look = lookOf(model.image, wanted)
  const inputsMax = model.image?.inputsMax ?? 0
  const edited = sources.slice(0, inputsMax)
  const [first] = edited
  const making = useMutation({
    mutationFn: async (prompt: string) =>
      make(token, model, { ...look, prompt, sources: edited, mask: first && mask }, setPartial),
    onSuccess: (made) => keepMade({ ...made, account, model: model.id }),
    onSettled: () => setPartial(undefined),
  })
  const takeSources = (files: readonly File[]): void => {
    // The mask belongs to the first image.
    if (files[0] !== first) setMask(undefined)
    setSources(files)
  }
  return (
    <Studio
      {...props}
      model={model}
      cost={<Cost model={model} look={look} />}
      isBusy={making.isPending}
      error={making.error}
      submit={t(first ? 'play.edit' : 'play.generate')}
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
      {model.image && <Wishes facts={model.image} look={look} model={model} wanted={wanted} onChange={setWanted} />}
      {inputsMax > 0 && (
        <FilesField
          label={t(inputsMax > 1 ? 'play.sources' : 'play.source')}
          accept={pictureTypes}
          max={inputsMax}
          files={edited}
          onFiles={takeSources}
        />
      )}
      {first && <MaskBrush key={first.name + first.lastModified} file={first} onMask={setMask} />}
    </Studio>
  )
}

function Cost({ model, look }: { readonly model: Model; readonly look: Look }) {
  const t = useT()
  const price = priceOf(model, look)
  if (price !== undefined) return t('play.willCost', { price: shortPrice(price) })
  const most = priceAtMost(model, look)
  return most === undefined ? t('play.byTokens') : t('play.imageAtMost', { price: shortPrice(most) })
}

type WishesProps = {
  readonly facts: ImageFacts
  readonly look: Look
  readonly model: Model
  readonly wanted: WantedLook
  readonly onChange: (wanted: WantedLook) => void
}

/** The options of this model. */
function Wishes({ facts, look, model, wanted, onChange }: WishesProps) {
  const t = useT()
  const chips = (name: 'size' | 'quality' | 'background' | 'format' | 'style', values: readonly string[]) => {
    const isFree = name !== 'size' && name !== 'quality'
    const priced = (value: string): string => {
      const price = name === 'quality' ? priceOf(model, { ...look, quality: value, count: 1 }) : undefined
      return price === undefined ? value : `${value} · ${shortPrice(price)}`
    }
    return values.length === 0 ? null : (
      <Chips
        name={t(`play.${name === 'format' ? 'fileFormat' : name}`)}
        value={look[name]}
        choices={[
          ...(isFree ? [{ value: '', label: t('play.default') }] : []),
          ...choicesOf(values).map(({ value }) => ({ value, label: priced(value) })),
        ]}
        onChoose={(value) => onChange({ ...wanted, [name]: value })}
      />
    )
  }
  const formats = facts.formats.filter((format) => look.background !== 'transparent' || format !== 'jpeg')
  return (
    <>
      {chips('size', facts.sizes)}
      {chips('quality', facts.qualities)}
      {chips('background', facts.backgrounds)}
      {chips('format', formats)}
      {look.background === 'transparent' && <p className="text-xs text-soft">{t('play.transparentHint')}</p>}
      {chips('style', facts.styles)}
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
    </>
  )
}

function Result({ account, made }: { readonly account: string; readonly made: MadePicture }) {
  const t = useT()
  return (
    <div className="space-y-2 rounded-lg border bg-panel p-3">
      <div className="flex flex-wrap gap-3">
        {made.pictures.map((picture, at) => (
          <figure key={picture.address.slice(-64) + at} className="min-w-0">
            <img
              src={picture.address}
              alt={t('play.result', { n: at + 1 })}
              className="max-h-[45vh] max-w-full rounded-md border"
            />
            <figcaption className="mt-1 flex flex-wrap items-center gap-2 text-xs text-soft">
              <a
                href={picture.address}
                download={`image-${at + 1}.${picture.type}`}
                className={buttonClass('quiet', 'text-ink')}
              >
                <Icon name="download" />
                {t('task.download')}
              </a>
              <Expiry picture={picture} />
            </figcaption>
          </figure>
        ))}
      </div>
      {made.requestId && <Charge account={account} requestId={made.requestId} />}
    </div>
  )
}

function Expiry({ picture: { expiresAtMs } }: { readonly picture: Picture }) {
  const t = useT()
  const show = useShow()
  if (expiresAtMs === undefined) return t('play.onlyHere')
  return expiresAtMs > Date.now() ? t('play.keptUntil', { time: show.time(expiresAtMs, 'clock') }) : t('play.expired')
}
