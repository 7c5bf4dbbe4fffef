import { expect, test } from 'bun:test'
import { keptWords, PrivateTexts } from './kept-words.ts'

const SECRET = 'vk-9f8e7d6c5b4a39281706-SECRET'
const kept = (message: string, ...texts: string[]): string | undefined =>
  keptWords(message, { texts: new PrivateTexts(texts), secret: SECRET, known: ['qwen-3.5'] })

test('a vendor’s own words are kept, whatever the request says beside them', () => {
  const request = JSON.stringify({ model: 'fail500', messages: [{ role: 'user', content: 'hi' }], temperature: 2 })
  for (const message of [
    'shard 7 of model pool eu-2 is out of memory',
    'Project proj_42 is not allowed to sample from model x, enable it at platform settings',
    "Invalid value for 'temperature': expected a number between 0 and 1",
    'Rate limit reached for model `qwen-3.5` on tokens per min (TPM): Limit 30000, Used 29000',
    '该模型当前访问量过大，请您稍后再试',
  ])
    expect(kept(message, request)).toBe(message)
})

test('a word of the request is left out, also as a part of another, in other letters, or by its number', () => {
  expect(kept("Invalid value: 'hunter2' is not allowed", 'my password is Hunter2')).toBe(
    "Invalid value: '…' is not allowed",
  )
  expect(kept('user_Zbigniew_id not found', 'I am ZBIGNIEW')).toBe('user_…_id not found')
  expect(kept('bad xxxviolets4711yyy', 'a word: violets4711')).toBe('bad …')
  expect(kept('Straße not found', '{"content":"Stra\\u00dfe"}')).toBe('… not found')
  expect(kept('card 4111111111111111 refused', '4111111111111111')).toBe('card … refused')
})

test('ordinary words are kept one by one, and not as a sentence of the request', () => {
  const request = 'The model is not available to the account, please check the settings of the service.'
  expect(kept('The model is not available', request)).toBeUndefined()
  expect(kept('No such model is available here', request)).toBe('No such model is available here')
})

test('a name of two ideographs is left out of a message in Chinese', () => {
  expect(kept('内容包含敏感信息：王伟，请修改', '我叫王伟')).toBe('内容包含敏感信息：…，请修改')
})

test('nothing of a credential is kept, not even a part', () => {
  expect(kept(`Incorrect API key provided: ${SECRET}.`)).toBe('Incorrect API key provided: ….')
  expect(kept('key …9f8e7d6c5b… refused')).not.toContain('7d6c')
  expect(kept('Your api key: ****CRET is invalid')).toBe('Your api key: ****CRET is invalid')
})

test('of a request that is too long to look through only ordinary words are left', () => {
  const texts = new PrivateTexts(['x'.repeat(5_000_000)])
  const options = { texts, secret: undefined, known: [] }
  expect(keptWords('The request of Zbigniew is too long', options)).toBe('The request of … is too long')
})

test('a message is bounded, in one line, and none where nothing of it is left', () => {
  expect(kept('a '.repeat(1_000))).toHaveLength(300)
  expect(kept('one\r\n two\u0000three \u202e four')).toBe('one two three four')
  expect(kept('violets4711', 'violets4711')).toBeUndefined()
  expect(kept('')).toBeUndefined()
})

const fill = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

test.each([
  ['the account of somebody 4711 is not what it was. ', 'somebodx accounx of whax '],
  ['aaaaaaaaaaaaaaaaaaaaaaab', 'a'],
  ['aaaaaaaaaaaaaaaaaaaaaaab', `${'a'.repeat(36)}c `],
  ['一丟举九乼些人仙仸众', '丟举九乼些人仙仸众伶何'],
  ['一丟举九乼些人仙仸众', '甲乙丙丁'],
  [String.raw`\u0061\u0062`, 'aabbaabb '],
])('no message takes long to look at: a request of %s', (request, message) => {
  for (const length of [256 * 1024, 1024 * 1024, 4 * 1024 * 1024]) {
    const before = process.threadCpuUsage().user
    const options = { texts: new PrivateTexts([fill(request, length)]), secret: SECRET, known: [] }
    keptWords(fill(message, 1_000), options)
    options.texts.has('insufficient balance')
    expect(process.threadCpuUsage().user - before).toBeLessThan(100_000)
  }
})
