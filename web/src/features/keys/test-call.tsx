/** A real request with the new key, streamed: one line of the answer, its cost and its duration. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { RequestRow } from '../../lib/api-types.gen.ts'
import { api, path } from '../../lib/api.ts'
import { eventsOf } from '../../lib/events.ts'
import { modelsFor, postGateway } from '../../lib/gateway.ts'
import { useT } from '../../lib/language.ts'
import { money } from '../../lib/money.ts'
import { useShow } from '../../lib/show.ts'
import { duration } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Failure, Note } from '../../ui/page.tsx'

type Props = { readonly account: string; readonly secret: string; readonly onModel: (model: string) => void }
type Choice = { readonly delta?: { readonly content?: string }; readonly finish_reason?: string | null }
type Call = { readonly requestId: string | null; readonly tookMs: number }

async function callOnce(secret: string, model: string, onText: (text: string) => void): Promise<Call> {
  const startedMs = performance.now()
  const response = await postGateway(secret, 'chat/completions', {
    model,
    stream: true,
    max_tokens: 48,
    messages: [{ role: 'user', content: 'Say hello in one short sentence.' }],
  })
  let text = ''
  for await (const event of eventsOf(response)) {
    const [choice] = (event['choices'] ?? []) as readonly Choice[]
    text += choice?.delta?.content ?? ''
    if (choice?.finish_reason === 'length') text += '…'
    onText(text)
  }
  return { requestId: response.headers.get('x-request-id'), tookMs: performance.now() - startedMs }
}

export function TestCall({ account, secret, onModel }: Props) {
  const t = useT()
  const [chosen, setChosen] = useState<string>()
  const [text, setText] = useState('')
  // The key must not become part of the cache key.
  const { data: models, error } = useQuery({
    queryKey: ['models-of-new-key', account],
    queryFn: () => modelsFor(secret),
    gcTime: 0,
    retry: false,
  })
  const callable = models?.filter(({ endpoints }) => endpoints.includes('chat.completions')).map(({ id }) => id) ?? []
  const model = chosen ?? callable[0]
  const call = useMutation({ mutationFn: (id: string) => callOnce(secret, id, setText) })
  useEffect(() => {
    if (model !== undefined) onModel(model)
  }, [model, onModel])
  if (error) return <Failure error={error} />
  if (models && callable.length === 0) return <Note kind="warn">{t('test.noModel')}</Note>
  return (
    <section aria-label={t('test.title')} className="space-y-2 rounded-md border p-3">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          name={t('test.model')}
          choices={callable.map((id) => ({ value: id, label: id }))}
          value={model ?? ''}
          onChoose={setChosen}
          className="!w-auto max-w-60 grow"
        />
        <Button
          icon="play"
          busy={call.isPending}
          disabled={model === undefined}
          onClick={() => {
            setText('')
            call.mutate(model ?? '')
          }}
        >
          {t('test.send')}
        </Button>
      </div>
      {call.error && <Failure error={call.error} />}
      {text !== '' && <p className="break-words whitespace-pre-wrap">{text}</p>}
      {call.data && <Verified account={account} call={call.data} />}
    </section>
  )
}

function Verified({ account, call }: { readonly account: string; readonly call: Call }) {
  const t = useT()
  const show = useShow()
  const { requestId } = call
  const { data } = useQuery({
    queryKey: ['test-call', requestId],
    queryFn: () => api.get<RequestRow>(path`accounts/${account}/requests/${requestId ?? ''}`),
    enabled: requestId !== null,
  })
  return (
    <Note kind="good">
      <strong>{t('test.verified')}</strong>
      {data &&
        ` ${t('test.facts', {
          tokens: show.number(data.input_tokens + data.output_tokens),
          cost: money(data.charged_nano_usd),
          took: duration(call.tookMs),
        })}`}
    </Note>
  )
}
