/** What making images and making videos have in common: wishes with their price at the left, results at the right. */
import { useState, type ReactNode, type SyntheticEvent } from 'react'
import { useT } from '../../lib/i18n/language.ts'
import { exact } from '../../lib/money.ts'
import type { Model } from '../../lib/models.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Failure } from '../../ui/page.tsx'
import { ModelPicker } from './model-picker.tsx'

export type StudioProps = {
  readonly account: string
  readonly models: readonly Model[]
  readonly model: Model
  readonly onModel: (id: string) => void
}

type Props = Omit<StudioProps, 'account'> & {
  /** Nano-dollars; undefined where it depends on the result. */
  readonly price: bigint | undefined
  readonly isBusy: boolean
  readonly error: Error | null
  readonly submit: string
  readonly onSubmit: (prompt: string) => void
  /** Wishes beside the prompt. */
  readonly children: ReactNode
  readonly results: ReactNode
}

export function Studio({ models, model, onModel, price, isBusy, error, submit, onSubmit, children, results }: Props) {
  const t = useT()
  const [prompt, setPrompt] = useState('')
  const send = (event: SyntheticEvent): void => {
    event.preventDefault()
    onSubmit(prompt)
  }
  return (
    <div className="grid gap-4 lg:grid-cols-[22rem_1fr]">
      <form
        onSubmit={send}
        aria-label={t('play.settings')}
        className="min-w-0 space-y-3 self-start rounded-lg border bg-panel p-4"
      >
        <ModelPicker models={models} model={model} onChoose={onModel} />
        <TextArea
          label={t('play.prompt')}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          required
        />
        {children}
        <p className="font-medium">
          {price === undefined ? t('play.byTokens') : t('play.willCost', { price: exact(price) })}
        </p>
        <Button kind="primary" type="submit" busy={isBusy} disabled={prompt.trim() === ''} className="w-full">
          {isBusy ? t('play.working') : submit}
        </Button>
        {error && <Failure error={error} />}
      </form>
      <section aria-label={t('play.gallery')} aria-live="polite" className="min-w-0 space-y-4">
        {results}
      </section>
    </div>
  )
}

export const choicesOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }))
