import { expect, test } from 'bun:test'
import type { Model, ModelKind } from '../domain/catalog.ts'
import { defaultModelLimits } from '../domain/model-limits.ts'
import { firstEventTimeoutOf } from './first-token-timeout.ts'

type Facts = { readonly kind?: ModelKind; readonly said?: number | undefined }

const timeoutOf = (upstreamModels: readonly string[], { kind = 'text', said }: Facts = {}): number =>
  firstEventTimeoutOf({
    kind,
    limits: { ...defaultModelLimits, firstEventTimeoutMs: said },
    offers: upstreamModels.map((upstreamModel) => ({ upstreamModel }) as Model['offers'][number]),
  })

const thinking = `
  o1 o1-pro o3 o3-mini-2025-01-31 o4-mini openai/o3 gpt-5 gpt-5-mini gpt-5.4-pro gpt-6-sol gemini-2.5-flash
  gemini-2.5-pro gemini-3-pro-preview gemini-3.5-flash-lite google/gemini-3-pro grok-4-0709 grok-4-fast-reasoning
  grok-4.20 grok-3-mini-fast x-ai/grok-4 deepseek-reasoner accounts/fireworks/models/deepseek-r1-0528
  us.deepseek.r1-v1:0 DeepSeek-R1 qwq-32b Qwen/QwQ-32B magistral-medium-2506 kimi-k2-thinking
  qwen3-235b-a22b-thinking-2507`
const others = `
  gpt-4o gpt-4.1-mini gpt-35-turbo gpt-3.5-turbo gpt-4-turbo gpt-oss-120b chatgpt-4o-latest claude-opus-4-5
  claude-sonnet-5 gemini-2.0-flash gemini-1.5-pro gemini-embedding-001 grok-3 grok-4-fast-non-reasoning
  deepseek-chat deepseek-v3-0324 llama-3.3-70b-versatile mistral-large-2512 codestral-2508 qwen3-32b kimi-k2.5
  sandbox-chat olmo-2 foo3`
/** Names, one after the other. */
const namesIn = (text: string): string[] => text.trim().split(/\s+/)

test.each(namesIn(thinking))('%s may think for minutes', (name) => {
  expect(timeoutOf([name])).toBe(300_000)
  // One such offer is enough: which one is asked is not known before.
  expect(timeoutOf(['sandbox-chat', name])).toBe(300_000)
  expect(timeoutOf([name], { said: 60_000 })).toBe(60_000)
})

test.each(namesIn(others))('%s is not known to', (name) => expect(timeoutOf([name])).toBe(60_000))

test('what the operator has said holds, and of images nothing is guessed', () => {
  expect(timeoutOf(['o3'], { said: 5 })).toBe(5)
  expect(timeoutOf(['gpt-4o'], { said: 900_000 })).toBe(900_000)
  expect(timeoutOf(['gemini-2.5-flash-image'], { kind: 'image' })).toBe(60_000)
  expect(timeoutOf([])).toBe(60_000)
})
