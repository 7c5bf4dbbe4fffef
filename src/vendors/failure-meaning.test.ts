import { expect, test } from 'bun:test'
import { chatFailures } from '../formats/core/openai-failure.ts'
import { geminiFailures } from '../formats/core/google-failure.ts'
import { converseFailures } from '../formats/converse/failure.ts'
import { messagesFailures } from '../formats/messages/failure.ts'
import { meaningOf, seenFailures } from './failure-meaning.ts'

const readers = {
  chat: chatFailures,
  gemini: geminiFailures,
  messages: messagesFailures,
  converse: converseFailures,
}
const readerOf = (dialect = 'chat') => readers[dialect as keyof typeof readers]

test('every failure that a vendor was seen to tell has its meaning, and a public source with its day', () => {
  expect(seenFailures.length).toBeGreaterThanOrEqual(40)
  for (const { vendor, dialect, status, body, means, source, date } of seenFailures) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const read = status === 200 ? readerOf(dialect).hidden(text) : readerOf(dialect).response(status, new Map(), text)
    expect([vendor, text, read?.kind]).toEqual([vendor, text, means])
    expect(source).toMatch(/^https:\/\/\S+$/)
    expect(date).toMatch(/^20\d\d-\d\d-\d\d$/)
  }
})

test('the words of a row are what its own message begins with, and only what is told to a client may begin anywhere', () => {
  for (const { words, means } of seenFailures) {
    if (words?.startsWith('.')) expect(['policy', 'context_length', 'bad_request']).toContain(means)
  }
})

const kindOf = (message: string, ...codes: string[]): string | undefined => meaningOf({ codes, message })?.kind

test('what nobody has seen yet is understood by words that vendors have in common', () => {
  for (const words of [
    'Your account balance is insufficient.',
    'Account balance not enough to run this query, please recharge',
    'Insufficient credits. Add more using https://example.com',
    'Insufficient account balance',
    'The account has been suspended due to insufficient funds',
    'Payment required',
    '您的账户余额不足，请充值',
    '账户已欠费，请充值后重试',
    'litellm.RateLimitError: OpenAIException - Your credit balance is too low',
  ])
    expect([words, kindOf(words)]).toEqual([words, 'funds'])
  for (const code of [
    'NOT_ENOUGH_BALANCE',
    'insufficient_credits',
    'FailedOperation.ServiceStopUnpaid',
    'quota.insufficient_quota',
  ])
    expect([code, kindOf('no', code)]).toEqual([code, 'funds'])
  for (const words of [
    'Prompt is too long',
    'Context length exceeded',
    'The prompt exceeds the maximum context length',
  ])
    expect([words, kindOf(words)]).toEqual([words, 'context_length'])
})

test('what quotes the request, or asks for patience, says nothing of money or length', () => {
  for (const words of [
    "Invalid value: 'Your credit balance is too low'. Supported values are: 'low', 'high'.",
    "'insufficient balance' is not one of ['low', 'high']",
    'Unrecognized request argument supplied: insufficient_balance',
    'Rate limit reached for gpt-4 on tokens per min. Please add a payment method to your account',
    'You exceeded your current quota, please check your plan and billing details',
    'messages.0.content: 余额不足 is not allowed',
    "Tool 'context length exceeded' not found",
  ])
    expect([words, kindOf(words, 'invalid_request_error')]).toEqual([words, undefined])
})

test('no message takes long to look at', () => {
  const startedMs = process.cpuUsage().user
  for (const part of ['a', 'a.', 'error', 'account ', '<400> ', 'your ', '(1', 'insufficient_', ' '])
    kindOf(part.repeat(100_000), part.repeat(64))
  expect(process.cpuUsage().user - startedMs).toBeLessThan(300_000)
})
