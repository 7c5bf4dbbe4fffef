import { expect, test } from 'bun:test'
import { readOffer } from './offer.ts'

test('the short form is a provider and a model, which may hold slashes', () => {
  expect(readOffer('openrouter/meta/llama-4')).toEqual({ provider: 'openrouter', model: 'meta/llama-4' })
})

test('the long form says everything', () => {
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

test('a model may hold an equals sign, as the knobs of the sandbox do', () => {
  expect(readOffer('provider=sandbox,model=sandbox-chat!status=500')).toEqual({
    provider: 'sandbox',
    model: 'sandbox-chat!status=500',
  })
})

test('what is wrong is named', () => {
  expect(readOffer('openai')).toContain('must be PROVIDER/MODEL')
  expect(readOffer('/gpt-x')).toContain('must be PROVIDER/MODEL')
  expect(readOffer('provider=openai')).toBe('needs provider= and model=')
  expect(readOffer('provider=openai,modle=x')).toBe("has no 'modle'; did you mean model?")
  expect(readOffer('provider=a,model=b,cost-input=1')).toBe('needs cost-input and cost-output together')
  expect(readOffer('provider=a,model=b,cost-input=x,cost-output=1')).toContain('cost-input must be dollars')
  expect(readOffer('provider=a,model=b,priority=-1')).toBe('priority must be a whole number')
})
