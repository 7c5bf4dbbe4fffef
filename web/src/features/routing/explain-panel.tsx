import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Explanation, Offer, RoutedModel } from '../../lib/api-types.gen.ts'
import { accountChoices } from '../../lib/choices.ts'
import { useT } from '../../lib/language.ts'
import { exact } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { Picker } from '../../parts/picker.tsx'
import { Button } from '../../ui/button.tsx'
import type { Choice } from '../../ui/field.tsx'
import { Failure, Note } from '../../ui/page.tsx'
import { Ago, Status } from '../../ui/text.tsx'
import { explain } from './api.ts'

const tones = { first: 'good', next: 'busy', last_resort: 'warn', skipped: 'none' } as const

/** Explains where a request for this model would go now. */
export function ExplainPanel({ model: { id, offers } }: { readonly model: RoutedModel }) {
  const t = useT()
  const any = { value: '', label: t('routing.anyAccount') }
  const [account, setAccount] = useState<Choice>(any)
  const asking = useMutation({ mutationFn: () => explain(id, account.value === '' ? {} : { account: account.value }) })
  return (
    <section>
      <h3 className="mb-2 border-b pb-1 font-semibold">{t('routing.explain')}</h3>
      <div className="flex flex-wrap gap-2">
        <Picker
          name={t('shell.account')}
          className="!w-60 max-w-full"
          value={account.value}
          shown={account.label}
          always={[any]}
          query={accountChoices}
          onChoose={(_, choice) => setAccount(choice)}
        />
        <Button busy={asking.isPending} onClick={() => asking.mutate()}>
          {t('routing.ask')}
        </Button>
      </div>
      {asking.error && <Failure error={asking.error} />}
      {asking.data && <Steps explanation={asking.data} offers={offers} />}
    </section>
  )
}

function Steps({ explanation, offers }: { readonly explanation: Explanation; readonly offers: readonly Offer[] }) {
  const t = useT()
  const show = useShow()
  return (
    <div className="mt-3 space-y-3" aria-live="polite">
      <Note kind={explanation.admitted ? 'good' : 'warn'}>
        {explanation.admitted
          ? t('routing.admitted')
          : explanation.lacking.map((lack) => <p key={lack}>{t(`routing.lacks.${lack}`)}</p>)}
      </Note>
      <ol className="space-y-2">
        {explanation.steps.map((step, at) => (
          <li key={nameOf(step)} className="flex items-baseline gap-2">
            <span className="w-5 shrink-0 text-right text-soft">{step.verdict === 'skipped' ? '–' : `${at + 1}.`}</span>
            <span className="min-w-0 grow break-words">
              <Status tone={tones[step.verdict]}>{t(`routing.${step.verdict}`)}</Status>{' '}
              <span className="font-medium">{step.provider}</span> <span className="text-soft">{step.model}</span>
              {step.share_percent > 0 && <span> · {show.percent(step.share_percent / 100)}</span>}
              <span className="block text-xs text-soft">
                <Why
                  step={step}
                  policy={explanation.policy}
                  offer={offers.find(({ provider, model }) => `${provider} ${model}` === nameOf(step))}
                />
              </span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}

type Step = Explanation['steps'][number]
const nameOf = ({ provider, model }: Step): string => `${provider} ${model}`

type WhyProps = { readonly step: Step; readonly policy: string; readonly offer: Offer | undefined }

/** The API explains in English. The console writes its text from the facts, in its language. */
function Why({ step, policy, offer }: WhyProps) {
  const t = useT()
  if (step.verdict === 'skipped') return t('routing.why.skipped')
  if (step.verdict === 'last_resort')
    return (
      <>
        {t('routing.why.last_resort')} {offer?.resting_until && <Ago at={offer.resting_until} />}
      </>
    )
  if (!offer) return null
  const { priority, weight } = offer
  if (policy !== 'weighted') return <Measured step={step} priority={priority} />
  return t(step.share_percent > 0 ? 'routing.why.first' : 'routing.why.next', { priority, weight })
}

/** What a policy compares. What is not measured yet counts as the best that is. */
function Measured({ step, priority }: { readonly step: Step; readonly priority: number }) {
  const t = useT()
  const show = useShow()
  const { first_event_ms: firstMs, tokens_per_second: speed, failed_percent: failed, score } = step
  const parts = [
    t('routing.why.priority', { priority }),
    ...(score === null ? [] : [t('routing.why.score', { score: show.number(score) })]),
    firstMs === null ? t('routing.why.unmeasured') : t('routing.why.firstEvent', { ms: show.number(firstMs) }),
    ...(speed === null ? [] : [t('routing.why.speed', { speed: show.number(speed) })]),
    t('routing.why.cost', { cost: exact(step.cost_nano_usd) }),
    ...(failed === 0 ? [] : [t('routing.why.failed', { percent: show.percent(failed / 100) })]),
  ]
  return parts.join(' ')
}
