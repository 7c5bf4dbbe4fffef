/** A conversation with a model: what was said, and the answer while it comes. */
import { useRef, useState } from 'react'
import { eventsOf } from '../../lib/events.ts'
import { postGateway } from '../../lib/gateway.ts'

export type Message = {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Of an answer, once its head is there. */
  readonly requestId?: string | null
  readonly state: 'done' | 'coming' | 'stopped' | 'failed'
}
export type Settings = {
  readonly model: string
  readonly system: string
  readonly temperature: string
  readonly maxTokens: string
}

export function bodyOf({ model, system, temperature, maxTokens }: Settings, said: readonly Message[]): object {
  const spoken = said
    .filter(({ state, text }) => state !== 'failed' && text !== '')
    .map(({ role, text }) => ({ role, content: text }))
  return {
    model,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...spoken],
    ...(temperature.trim() === '' ? {} : { temperature: Number(temperature) }),
    ...(maxTokens.trim() === '' ? {} : { max_tokens: Number(maxTokens) }),
  }
}

type Chunk = {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly error?: { readonly message?: string }
}

export function useConversation(token: () => Promise<string>) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [error, setError] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  const isBusy = messages.at(-1)?.state === 'coming'
  const setLast = (change: Partial<Message>): void =>
    setMessages((all) => all.map((message, at) => (at === all.length - 1 ? { ...message, ...change } : message)))

  const ask = async (text: string, settings: Settings): Promise<void> => {
    const said = [...messages, { role: 'user', text, state: 'done' } as const]
    setError(undefined)
    setMessages([...said, { role: 'assistant', text: '', state: 'coming' }])
    const control = new AbortController()
    running.current = control
    let answer = ''
    try {
      const body = { ...bodyOf(settings, said), stream: true }
      const response = await postGateway(await token(), 'chat/completions', body, { signal: control.signal })
      setLast({ requestId: response.headers.get('x-request-id') })
      for await (const event of eventsOf(response)) {
        const { choices, error: broken } = event as Chunk
        if (broken) throw new Error(broken.message)
        answer += choices?.[0]?.delta?.content ?? ''
        setLast({ text: answer })
      }
      setLast({ state: 'done' })
    } catch (thrown) {
      if (control.signal.aborted) return setLast({ state: 'stopped' })
      setLast({ state: 'failed' })
      setError(thrown)
    }
  }
  return {
    messages,
    error,
    isBusy,
    ask,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort()
      setMessages([])
      setError(undefined)
    },
  }
}
