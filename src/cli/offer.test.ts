import { expect, test } from 'bun:test'
import { readOffer } from './offer.ts'

test('the short form is a provider and a model, which may hold slashes', () => {
  expect(readOffer('openrouter/meta/llama-4')).toEqual({ provider: 'openrouter', model: 'meta/llama-4' })
})

test('the short form takes the same keys after it', () => {
  expect(readOffer('fa/up-a,priority=0')).toEqual({ provider: 'fa', model: 'up-a', priority: 0 })
  expect(readOffer('fa/meta/up-a, weight=3, cost-input=0.1, cost-output=0.2')).toEqual({
    provider: 'fa',
    model: 'meta/up-a',
    weight: 3,
    cost: { input: '0.1', output: '0.2' },
  })
})

test('nothing of an offer ends up in the name of a model', () => {
  expect(readOffer('fa/up-a,prioritty=0')).toBe("has no 'prioritty'; did you mean priority?")
  expect(readOffer('fa/up-a,fb/up-b')).toContain("has no 'fb/up-b'; it has ")
  expect(readOffer('fa/up-a,')).toContain("has no ''")
  expect(readOffer('fa/up-a,model=up-b')).toBe('has model twice')
  expect(readOffer('fa/up-a,weight=1,weight=2')).toBe('has weight twice')
  expect(readOffer('fa/up-a,weight=0')).toBe('weight must be at least 1')
  expect(readOffer('fa/up-a,priority=')).toBe('needs a value for priority')
})

test('the long form has all fields', () => {
  expect(
    readOffer('provider=openai,model=gpt-x,cost-input=0.1,cost-output=0.2,cost-cached-input=0,priority=0,weight=3'),
  ).toEqual({
    provider: 'openai',
    model: 'gpt-x',
    cost: { input: '0.1', output: '0.2', cached_input: '0' },
    priority: 0,
    weight: 3,
  })
})

test('the short form may have more behind it', () => {
  expect(readOffer('fa/up-a,priority=0,context_tokens=4096')).toEqual({
    provider: 'fa',
    model: 'up-a',
    priority: 0,
    context_tokens: 4096,
  })
  expect(readOffer('fa/up-a,context-tokens=8')).toMatchObject({ context_tokens: 8 })
  expect(readOffer('fa/up-a,next')).toContain("has no 'next'")
  expect(readOffer('fa/up-a,context_tokens=many')).toBe('context_tokens must be a whole number')
})

test('a model may hold an equals sign, as the knobs of the sandbox do', () => {
  expect(readOffer('provider=sandbox,model=sandbox-chat!status=500')).toEqual({
    provider: 'sandbox',
    model: 'sandbox-chat!status=500',
  })
})

test('longer requests and pieces have costs of their own', () => {
  expect(
    readOffer('a/b,cost-input=1,cost-output=2,cost-above-272000-input=2,cost-above-272000-cached-input=0.2'),
  ).toMatchObject({ cost: { input: '1', output: '2', above: { 272000: { input: '2', cached_input: '0.2' } } } })
  expect(readOffer('a/b,cost-each-second/720p=0.1,cost-each-upscale=0.01')).toMatchObject({
    cost: { each: { 'second/720p': '0.1', upscale: '0.01' } },
  })
})

test('what is wrong is named', () => {
  expect(readOffer('openai')).toContain('must be PROVIDER/MODEL')
  expect(readOffer('/gpt-x')).toContain('must be PROVIDER/MODEL')
  expect(readOffer('provider=openai')).toBe('needs provider= and model=')
  expect(readOffer('provider=openai,modle=x')).toBe("has no 'modle'; did you mean model?")
  expect(readOffer('a/b,cost-above-272000-inptu=1')).toContain("has no 'cost-above-272000-inptu'")
  expect(readOffer('a/b,cost-each-second/720p=x')).toContain('cost-each-second/720p must be dollars')
  expect(readOffer('provider=a,model=b,cost-input=x,cost-output=1')).toContain('cost-input must be dollars')
  expect(readOffer('provider=a,model=b,priority=-1')).toBe('priority must be a whole number')
})
