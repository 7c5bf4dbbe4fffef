/** One request: its timing and the parts of its price. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Attempt, PriceLines, RequestDetail } from '../../lib/api-types.gen.ts'
import { useT, type Key } from '../../lib/language.ts'
import { columnOf, money, nano, perPiece, shortPrice } from '../../lib/money.ts'
import { clientBaseUrl, useMe } from '../../lib/session.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { OutcomeMark } from '../../parts/outcome.tsx'
import { usePriceBasis } from '../../parts/price-basis.tsx'
import { usePieceName } from '../../parts/prices.tsx'
import { Waterfall, type Phase } from '../../ui/chart/waterfall.tsx'
import { Facts, Note } from '../../ui/page.tsx'
import { CodeBlock, Id, Money, Time } from '../../ui/text.tsx'
import { commandFor } from './again.ts'

type Props = { readonly account: string; readonly request: RequestDetail }

export function RequestView({ account, request }: Props) {
  const t = useT()
  const { upstream_cost: upstreamCost } = request
  const command = commandFor(request, clientBaseUrl(useMe()))
  return (
    <div className="space-y-6">
      <Head account={account} request={request} />
      <Section title={t('request.timing')}>
        <Waterfall label={t('request.timing')} phases={usePhases(request)} totalMs={request.total_ms} />
      </Section>
      <Section title={t('request.price')}>
        <Price request={request} />
      </Section>
      {command !== undefined && (
        <Section title={t('request.again')}>
          <p className="mb-2 text-soft">{t('request.againHint')}</p>
          <CodeBlock text={command} label={t('request.again')} />
        </Section>
      )}
      {upstreamCost && (
        <Section title={t('request.cost')}>
          <Lines
            price={upstreamCost}
            shown={columnOf([upstreamCost.total_nano_usd, ...upstreamCost.lines.map((line) => line.amount_nano_usd)])}
          />
          <p className="mt-2 text-right text-soft">
            {t('request.margin', { amount: money(nano(request.charged_nano_usd) - nano(upstreamCost.total_nano_usd)) })}
          </p>
        </Section>
      )}
    </div>
  )
}

const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <h3 className="mb-2 border-b pb-1 font-semibold">{title}</h3>
    {children}
  </section>
)

/** Links to the guide's explanation of the error. */
const ErrorCode = ({ code }: { readonly code: string }) => (
  <a
    href={new URL(`../docs/errors#${encodeURIComponent(code)}`, document.baseURI).href}
    target="_blank"
    rel="noreferrer"
    className="font-mono text-xs text-bad underline"
  >
    {code}
  </a>
)

/** The piece of an answer from the answer cache. */
const CACHED = 'piece:answer/cached'

function Head({ account, request }: Props) {
  const t = useT()
  const show = useShow()
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <OutcomeMark outcome={request.outcome} />
        <span>{request.status}</span>
        {request.error_code && <ErrorCode code={request.error_code} />}
        <span className="grow" />
        <span className="text-soft">{duration(request.total_ms)}</span>
        <Money amount={request.charged_nano_usd} className="text-base font-semibold" />
      </div>
      {request.outcome !== 'completed' && <Note kind="warn">{t(`request.${request.outcome}`)}</Note>}
      <Facts
        rows={[
          [t('column.id'), <Id key="id" id={request.id} isShort={false} />],
          [t('column.time'), <Time key="time" at={request.created_at} shape="withSeconds" />],
          [t('column.model'), request.model],
          [
            t('column.key'),
            <span key="key" className="inline-flex flex-wrap items-center gap-x-2">
              <Link
                to="/a/$account/requests"
                params={{ account }}
                search={{ key: request.key.id }}
                className="text-accent hover:underline"
              >
                {request.key.name}
              </Link>
              <Id id={request.key.id} />
            </span>,
          ],
          [t('column.endpoint'), request.stream ? `${request.endpoint} · ${t('flag.stream')}` : request.endpoint],
          [
            t('column.tokens'),
            t('request.tokens', {
              in: show.number(request.input_tokens),
              cached: show.number(request.cached_input_tokens),
              out: show.number(request.output_tokens),
            }),
          ],
          ...(request.output_cap !== null && request.output_cap_reason !== null
            ? [
                [
                  t('request.outputCap'),
                  `${show.number(request.output_cap)} · ${t(`request.outputCap.${request.output_cap_reason}`)}`,
                ] as const,
              ]
            : []),
          ...(request.pieces.some(({ unit }) => unit === CACHED)
            ? [[t('request.servedBy'), t('request.answerCache')] as const]
            : []),
          ...(request.usage_source ? [[t('request.source'), t(`request.${request.usage_source}`)] as const] : []),
        ]}
      />
    </div>
  )
}

function usePhases(request: RequestDetail): readonly Phase[] {
  const t = useT()
  const attempts = [...request.attempts_made]
  return request.phases.map(({ phase, started_ms: startMs, took_ms: tookMs }): Phase => {
    if (phase !== 'attempt')
      return { name: t(`request.phase.${phase}`), startMs, tookMs, look: phase === 'answer' ? 'good' : 'plain' }
    const attempt = attempts.shift()
    const number = request.attempts_made.length - attempts.length
    return {
      name: attempt?.provider ?? t('request.attempt', { n: number }),
      note: attempt && attemptNote(attempt, t),
      startMs,
      tookMs,
      look: lookOf(attempt?.result),
    }
  })
}

/** An attempt that the gateway has stopped did not fail. */
const lookOf = (result: string | undefined): Phase['look'] =>
  result === 'ok' ? 'good' : result === 'outrun' || result === 'aborted' ? 'plain' : 'bad'

function attemptNote(attempt: Attempt, t: ReturnType<typeof useT>): string | undefined {
  const { result, status, code, type, message, model, provider_key: key, upstream_request_id: id } = attempt
  const known = [
    // The model is stated if the request named several.
    model,
    attempt.upstream_model,
    key ? t('request.providerKey', { id: key }) : undefined,
    id ? t('request.upstreamId', { id }) : undefined,
  ]
  const words = result === 'ok' ? known : [result, status, code, type === code ? null : type, ...known, message]
  return words.filter((word) => word !== null && word !== undefined && word !== '').join(' · ') || undefined
}

function Price({ request }: { readonly request: RequestDetail }) {
  const t = useT()
  const basisOf = usePriceBasis()
  const {
    price,
    held_nano_usd: held,
    charged_nano_usd: charged,
    released_nano_usd: released,
    written_off_nano_usd: writtenOff,
  } = request
  const moves: readonly (readonly [Key, string])[] = [
    ['request.held', held],
    ['request.settled', charged],
    ['request.released', released],
    ...(nano(writtenOff) > 0n ? [['request.writtenOff', writtenOff] as const] : []),
  ]
  const shown = columnOf([
    ...moves.map(([, amount]) => amount),
    ...(price?.lines ?? []).map((line) => line.amount_nano_usd),
  ])
  return (
    <>
      {price ? <Lines price={price} shown={shown} /> : <p className="text-soft">{t('request.free')}</p>}
      {price && request.price_basis !== 'model' && (
        <p className="text-soft">{basisOf({ basis: request.price_basis, factor: request.price_factor })}</p>
      )}
      <dl className="mt-3 flex flex-wrap gap-x-6 gap-y-1 rounded-md bg-sunken px-3 py-2">
        {moves.map(([name, amount]) => (
          <div key={name}>
            <dt className="text-xs text-soft">{t(name)}</dt>
            <dd>
              <Money amount={amount} show={shown} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

/** Each bucket with its count and price, and the total. Only the total is rounded up. */
function Lines({ price, shown }: { readonly price: PriceLines; readonly shown: ReturnType<typeof columnOf> }) {
  const t = useT()
  const show = useShow()
  const pieceName = usePieceName()
  const name = (unit: string): string => (unit.startsWith('piece:') ? pieceName(unit) : t(`unit.${unit}` as Key))
  return (
    <table className="w-full">
      <tbody>
        {price.lines.map((line) => {
          const isPiece = line.unit.startsWith('piece:')
          const rate = isPiece ? perPiece(line.nano_usd_per_million) : line.nano_usd_per_million
          return (
            <tr key={line.unit} className="h-7">
              <th scope="row" className="text-left font-normal">
                {name(line.unit)}
              </th>
              <td className="text-right whitespace-nowrap">{show.number(line.count)}</td>
              <td className="pl-2 text-right whitespace-nowrap text-soft">
                × <Money amount={rate} show={shortPrice} />
                {!isPiece && ' / 1M'}
              </td>
              <td className="pl-3 text-right">
                <Money amount={line.amount_nano_usd} show={shown} />
              </td>
            </tr>
          )
        })}
        {price.rounding_nano_usd !== '0' && (
          <tr className="h-7 text-soft">
            <th scope="row" colSpan={3} className="text-left font-normal">
              {t('request.rounding')}
            </th>
            <td className="text-right">
              <Money amount={price.rounding_nano_usd} show={shown} />
            </td>
          </tr>
        )}
      </tbody>
      <tfoot className="border-t">
        <tr className="h-8 font-semibold">
          <th scope="row" colSpan={3} className="text-left">
            {t('request.sum', { day: show.time(price.prices_from, 'dayOnly') })}
          </th>
          <td className="text-right">
            <Money amount={price.total_nano_usd} show={shown} />
          </td>
        </tr>
      </tfoot>
    </table>
  )
}
