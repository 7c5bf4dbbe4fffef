/** The cost of an answer, read from its request record. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import type { RequestRow } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { useT } from '../../lib/language.ts'
import { shortPrice } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'

export function Charge({ account, requestId }: { readonly account: string; readonly requestId: string }) {
  const t = useT()
  const show = useShow()
  // The settlement writes the record. For a stopped answer that takes a moment longer.
  const { data } = useQuery({
    queryKey: ['played', account, requestId],
    queryFn: () => api.get<RequestRow>(path`accounts/${account}/requests/${requestId}`),
    retry: 5,
    retryDelay: 400,
  })
  if (!data) return null
  const tokens = data.input_tokens + data.output_tokens > 0
  const parts = [
    ...(tokens ? [t('play.tokens', { in: show.number(data.input_tokens), out: show.number(data.output_tokens) })] : []),
    shortPrice(data.charged_nano_usd),
    ...(data.first_event_ms === null || data.images > 0
      ? []
      : [t('play.firstToken', { took: duration(data.first_event_ms) })]),
    t('play.total', { took: duration(data.total_ms) }),
  ]
  return (
    <p className="mt-1 text-xs text-soft">
      {parts.map((part, at) => (
        <Fragment key={at}>
          <span className="whitespace-nowrap">{at < parts.length - 1 ? `${part} ·` : part}</span>{' '}
        </Fragment>
      ))}
      <Link
        to="/a/$account/requests/$request"
        params={{ account, request: requestId }}
        search={{}}
        className="underline hover:text-ink"
      >
        {t('play.details')}
      </Link>
    </p>
  )
}
