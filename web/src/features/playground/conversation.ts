/** A conversation with a model: its messages, and the answer that is arriving. */
import { useEffect, useRef, useState } from 'react'
import type { ErrorAnswer } from '../../lib/api.ts'
import { eventsOf } from '../../lib/events.ts'
import { failureIn, postGateway, type TokenSource } from '../../lib/gateway.ts'
import { grown, type Answer, type Delta, type Message } from './messages.ts'

type Chunk = {
  readonly choices?: readonly { readonly delta?: Delta }[]
  readonly error?: ErrorAnswer
}

export function useConversation(token: TokenSource) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [error, setError] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  // The reader has gone. The received part is charged, and nothing more is requested.
  useEffect(() => () => running.current?.abort(), [])
  const last = messages.at(-1)
  const isBusy = last?.role === 'assistant' && last.state === 'coming'
  const setLast = (change: Partial<Answer>): void =>
    setMessages((all) =>
      all.map((message, at) =>
        at === all.length - 1 && message.role === 'assistant' ? { ...message, ...change } : message,
      ),
    )

  /** Sends the messages and appends the answer. */
  const run = async (said: readonly Message[], body: object): Promise<void> => {
    setError(undefined)
    setMessages([...said, { role: 'assistant', text: '', calls: [], state: 'coming' }])
    const control = new AbortController()
    running.current?.abort()
    running.current = control
    let answer: Pick<Answer, 'text' | 'calls'> = { text: '', calls: [] }
    try {
      const response = await postGateway(token, 'chat/completions', body, { signal: control.signal })
      setLast({ requestId: response.headers.get('x-request-id') })
      for await (const event of eventsOf(response)) {
        if (running.current !== control) return
        const { choices, error: broken } = event as Chunk
        if (broken) throw failureIn(broken, response)
        answer = grown(answer, choices?.[0]?.delta ?? {})
        setLast(answer)
      }
      setLast({ state: 'done' })
    } catch (thrown) {
      // The end of an answer that was replaced by another is ignored.
      if (running.current !== control) return
      if (control.signal.aborted) return setLast({ state: 'stopped' })
      setLast({ state: 'failed' })
      setError(thrown)
    }
  }
  return {
    messages,
    error,
    isBusy,
    run,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      running.current = undefined
      setMessages([])
      setError(undefined)
    },
  }
}
