/**
 * Two vendors that speak chat and do what the message of each request says, by their names: wait, fail, or break off.
 * Each reports a usage of its own, so a charge shows whose answer was paid.
 */
export type Deed = {
  /** How long it waits before it answers. */
  readonly waitMs?: number
  /** It waits until the gateway has left a request to vendor `a`. */
  readonly untilLeft?: boolean
  /** The status of a refusal, or `cut` for an answer that breaks off after its beginning. */
  readonly fails?: number | 'cut'
  /** A field of the request that it refuses at once. */
  readonly refuses?: string
}
export type Script = { readonly [name in 'a' | 'b']?: Deed }

export type ScriptedVendors = {
  /** Two offers of one model, `m`, the first of vendor `a`. `options` are further fields of the model. */
  readonly yaml: (options: string) => string
  /** How many requests each vendor has got, and how many of them were broken off by the gateway. */
  readonly counts: Readonly<Record<'a' | 'b', { got: number; left: number }>>
  /** The last request that each vendor got. */
  readonly last: { readonly [name in 'a' | 'b']?: Readonly<Record<string, unknown>> }
  stop(): Promise<void>
}

/** Completion tokens by the vendor's name. A prompt costs nothing in the model of `yaml`. */
export const tokensOf = { a: 3, b: 5 } as const

export function startScriptedVendors(): ScriptedVendors {
  const last: { a?: Record<string, unknown>; b?: Record<string, unknown> } = {}
  const counts = { a: { got: 0, left: 0 }, b: { got: 0, left: 0 } }
  const servers = (['a', 'b'] as const).map((name) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 60,
      async fetch(request) {
        const body = (await request.json()) as { messages: [{ content: string }]; stream?: boolean }
        const { messages, stream } = body
        const { waitMs = 0, untilLeft, fails, refuses } = (JSON.parse(messages[0].content) as Script)[name] ?? {}
        counts[name].got++
        last[name] = body
        if (refuses !== undefined && refuses in body) {
          return Response.json(
            { error: { message: `Unknown parameter: '${refuses}'.`, param: refuses } },
            { status: 400 },
          )
        }
        request.signal.addEventListener('abort', () => counts[name].left++)
        const { left } = counts.a
        if (waitMs > 0) await Bun.sleep(waitMs)
        while (untilLeft && counts.a.left === left) await Bun.sleep(5)
        if (typeof fails === 'number') return Response.json({ error: { message: 'scripted' } }, { status: fails })
        return stream ? streamOf(name, fails === 'cut') : wholeOf(name, fails === 'cut')
      },
    }),
  )
  const [a, b] = servers.map(({ port }) => port)
  return {
    counts,
    last,
    yaml: (options) => `
sandbox: false
providers:
  a: { base_url: 'http://127.0.0.1:${a}/v1', allow_private: true }
  b: { base_url: 'http://127.0.0.1:${b}/v1', allow_private: true }
models:
  m:
    price: { input: 0, output: 1000 }
    output_tokens_max: 100
    ${options}
    offers:
      - { provider: a, model: m, priority: 0 }
      - { provider: b, model: m, priority: 1 }
`,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop(true)))
    },
  }
}

const usageOf = (name: 'a' | 'b') => ({
  prompt_tokens: 1,
  completion_tokens: tokensOf[name],
  total_tokens: 1 + tokensOf[name],
})

const frame = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`

function streamOf(name: 'a' | 'b', breaks: boolean): Response {
  const ending = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: usageOf(name) }
  const frames = [frame({ role: 'assistant', content: `${name} says` }), frame({}, ending), 'data: [DONE]\n\n']
  const body = new ReadableStream<string>({
    async start(controller) {
      controller.enqueue(frames[0])
      await Bun.sleep(1)
      for (const rest of breaks ? [] : frames.slice(1)) controller.enqueue(rest)
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

function wholeOf(name: 'a' | 'b', breaks: boolean): Response {
  const choices = [{ index: 0, message: { role: 'assistant', content: `${name} says` }, finish_reason: 'stop' }]
  const text = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices,
    usage: usageOf(name),
  })
  return new Response(breaks ? text.slice(0, -20) : text, { headers: { 'content-type': 'application/json' } })
}
