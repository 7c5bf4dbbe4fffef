import { Stop } from '../outbound/stop.ts'
import { safeText } from '../lib/primitives/safe-text.ts'
import { accessOf, accessOptions, costOnRecord, unreached } from './access.ts'
import { callChat, type ChatEnd } from './chat-call.ts'
import { command } from './command.ts'
import { exitWith, refusedCall, shown, usage, type CommandOutcome } from './outcome.ts'
import type { Program } from './program.ts'
import { usd } from './table.ts'
import type { Terminal } from './terminal.ts'
import { text, wholeNumber } from './values.ts'

const INTERRUPTED = 130

type ChatOptions = {
  readonly model: string
  readonly system: string | undefined
  readonly 'max-tokens': string | undefined
  readonly 'no-stream': boolean
}

export const chat = command({
  name: 'chat',
  summary: 'Asks a model one question over the public API.',
  examples: [
    ["tollgate chat 'Why is the sky blue?' --model sandbox-chat", 'the key is in TOLLGATE_API_KEY'],
    ["git diff | tollgate chat --model gpt-4.1-mini --system 'Review this change.'", 'the prompt from stdin'],
    ['tollgate chat Hello --model sandbox-chat --json | jq .usage'],
  ],
  positionals: [
    { name: 'prompt', summary: 'the question (default: read from stdin)', value: text('PROMPT'), takes: 'many' },
  ],
  options: {
    model: { summary: 'model to ask (tollgate model list)', value: text('MODEL'), takes: 'needed' },
    system: { summary: 'system message', value: text('TEXT') },
    'max-tokens': { summary: 'maximum tokens of the answer', value: wholeNumber('N', { min: 1, max: 1e9 }) },
    'no-stream': { summary: 'wait for the whole answer' },
    ...accessOptions,
  },
  run: async ({ args, options, program, terminal }) => {
    const access = await accessOf('chat', options, program)
    if (access.kind === 'none') return access.outcome
    const { baseUrl, key } = access
    const prompt = await promptOf(args.prompt, terminal)
    if (prompt === '') return usage('chat: the prompt is empty')
    const stop = new Stop()
    process.once('SIGINT', () => stop.stop())
    const call = { baseUrl: baseUrl.replace(/\/+$/, ''), key, body: bodyOf(prompt, options), stop }
    const end = await callChat(call, (piece) => {
      if (!terminal.json) terminal.data(terminal.watched ? safeText(piece) : piece)
    })
    return conclude(end, { program, terminal, baseUrl })
  },
})

async function promptOf(words: readonly string[], terminal: Terminal): Promise<string> {
  if (words.length > 0) return words.join(' ')
  if (terminal.interactive) terminal.talk('Type the prompt, then Enter and Ctrl-D:\n')
  return (await terminal.readAll()).trim()
}

function bodyOf(prompt: string, { model, system, 'max-tokens': maxTokens, 'no-stream': whole }: ChatOptions): object {
  return {
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    ...(maxTokens !== undefined && { max_tokens: Number(maxTokens) }),
    ...(whole ? {} : { stream: true, stream_options: { include_usage: true } }),
  }
}

type Place = { readonly program: Program; readonly terminal: Terminal; readonly baseUrl: string }

async function conclude(end: ChatEnd, { program, terminal, baseUrl }: Place): Promise<CommandOutcome> {
  const begun = end.kind !== 'unreachable' && end.text !== ''
  const newline = (): void => {
    if (begun && !terminal.json && !end.text.endsWith('\n')) terminal.data('\n')
  }
  switch (end.kind) {
    case 'interrupted':
      newline()
      if (!terminal.json) terminal.talk('tollgate: interrupted\n')
      return exitWith(INTERRUPTED)
    case 'unreachable':
      return unreached(baseUrl, end.message)
    case 'refused':
      newline()
      return refusedCall(end, terminal)
    case 'answered': {
      newline()
      const costUsd = end.costUsd ?? (await costOnRecord(program, end.requestId, baseUrl))
      const { text, usage, requestId, finishReason } = end
      const value = { text, usage, cost_usd: costUsd, request_id: requestId, finish_reason: finishReason }
      return shown(value, '', { talk: summaryOf(end, costUsd) })
    }
  }
}

function summaryOf(
  { usage, tookMs, finishReason }: Extract<ChatEnd, { kind: 'answered' }>,
  costUsd: string | null,
): string {
  const tokens = usage ? `${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out` : 'tokens unknown'
  const cost = costUsd === null ? '' : `, ${usd(costUsd)}`
  const cut = finishReason === 'stop' || finishReason === null ? '' : `, ended by ${finishReason}`
  return `[${tokens}${cost}, ${(tookMs / 1000).toFixed(1)} s${cut}]`
}
