import { useMutation } from '@tanstack/react-query'
import { useState, type SyntheticEvent } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import type { Model } from '../../lib/models.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Empty, Failure } from '../../ui/page.tsx'
import { Charge } from './charge.tsx'
import { FileField } from './file-field.tsx'
import { MaskBrush } from './mask-brush.tsx'
import { ModelPicker } from './model-picker.tsx'
import { make, priceOf, type Made, type Picture, type Wish } from './pictures.ts'
import { useToken } from './token.ts'

type Props = {
  readonly account: string
  readonly models: readonly Model[]
  readonly model: Model
  readonly onModel: (id: string) => void
}

export function ImageStudio({ account, models, model, onModel }: Props) {
  const t = useT()
  const token = useToken(account)
  const facts = model.image
  const [prompt, setPrompt] = useState('')
  const [wanted, setWanted] = useState({ size: '', quality: '', count: '1' })
  const [source, setSource] = useState<File>()
  const [mask, setMask] = useState<Blob>()
  const [partial, setPartial] = useState<Picture>()
  const [gallery, setGallery] = useState<readonly Made[]>([])
  const size = facts?.sizes.includes(wanted.size) ? wanted.size : (facts?.sizeDefault ?? '')
  const quality = facts?.qualities.includes(wanted.quality) ? wanted.quality : (facts?.qualityDefault ?? '')
  const count = Math.max(1, Math.min(Number(wanted.count) || 1, facts?.countMax ?? 1))
  const mayEdit = (facts?.inputsMax ?? 0) > 0
  const price = priceOf(model, { size, quality, count })
  const making = useMutation({
    mutationFn: async (wish: Wish) => make(await token(), model, wish, setPartial),
    onSuccess: (made) => setGallery((all) => [made, ...all]),
    onSettled: () => setPartial(undefined),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    making.mutate({ prompt, size, quality, count, ...(mayEdit && source ? { source, mask } : {}) })
  }
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
        <div className="grid grid-cols-2 gap-3">
          {facts && facts.sizes.length > 0 && (
            <SelectField
              label={t('play.size')}
              value={size}
              choices={facts.sizes.map((value) => ({ value, label: value }))}
              onChoose={(value) => setWanted({ ...wanted, size: value })}
            />
          )}
          {facts && facts.qualities.length > 0 && (
            <SelectField
              label={t('play.quality')}
              value={quality}
              choices={facts.qualities.map((value) => ({ value, label: value }))}
              onChoose={(value) => setWanted({ ...wanted, quality: value })}
            />
          )}
          {facts && !facts.isSingle && facts.countMax > 1 && (
            <TextField
              label={t('play.count')}
              type="number"
              min={1}
              max={facts.countMax}
              value={wanted.count}
              onChange={(event) => setWanted({ ...wanted, count: event.target.value })}
            />
          )}
        </div>
        {mayEdit && (
          <FileField
            label={t('play.source')}
            accept="image/png,image/jpeg,image/webp"
            file={source}
            onFile={(file) => {
              setSource(file)
              setMask(undefined)
            }}
          />
        )}
        {mayEdit && source && <MaskBrush key={source.name + source.lastModified} file={source} onMask={setMask} />}
        <p className="text-soft">
          {price === undefined ? t('play.byTokens') : t('play.willCost', { price: exact(price) })}
        </p>
        <Button kind="primary" type="submit" busy={making.isPending} disabled={prompt.trim() === ''} className="w-full">
          {making.isPending ? t('play.working') : t(source && mayEdit ? 'play.edit' : 'play.generate')}
        </Button>
        {making.error && <Failure error={making.error} />}
      </form>
      <section aria-label={t('play.gallery')} aria-live="polite" className="min-w-0 space-y-4">
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
      </section>
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
