/** The shared layout of images and videos: options with the price on the left, results on the right. */
import { useState, type ReactNode, type SyntheticEvent } from 'react'
import type { Model } from '../../lib/api-types.gen.ts'
import { useT } from '../../lib/language.ts'
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
  /** The price in words. */
  readonly cost: ReactNode
  /** The reason why it cannot be requested now. */
  readonly obstacle?: string | undefined
  /** Whether the prompt may be empty. */
  readonly isPromptFree?: boolean
  readonly isBusy: boolean
  readonly error: Error | null
  readonly submit: string
  readonly onSubmit: (prompt: string) => void
  /** The options besides the prompt. */
  readonly children: ReactNode
  readonly results: ReactNode
}

export function Studio(props: Props) {
  const { models, model, onModel, cost, obstacle, isPromptFree = false, isBusy, error, submit, onSubmit } = props
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
          required={!isPromptFree}
        />
        {props.children}
        <div className="font-medium">{cost}</div>
        <p role="status" className="text-xs text-warn">
          {obstacle}
        </p>
        <Button
          kind="primary"
          type="submit"
          busy={isBusy}
          disabled={obstacle !== undefined || (prompt.trim() === '' && !isPromptFree)}
          className="w-full"
        >
          {isBusy ? t('play.working') : submit}
        </Button>
        {error && <Failure error={error} />}
      </form>
      <section aria-label={t('play.gallery')} aria-live="polite" className="min-w-0 space-y-4">
        {props.results}
      </section>
    </div>
  )
}

export const choicesOf = (values: readonly string[]) => values.map((value) => ({ value, label: value }))
