import { expect, test } from 'bun:test'
import { checkBaseUrl, checkUrl, faultOfClientUrl, vet } from './guard.ts'

const wordOf = (text: string, reach: 'public' | 'private' = 'public'): string => {
  const checked = checkUrl(text, reach)
  return checked.kind === 'good' ? checked.url.href : checked.kind === 'private' ? checked.name : checked.message
}

test('a URL is returned as it was parsed', () => {
  expect(wordOf('HTTPS://API.Example.com:443/v1/')).toBe('https://api.example.com/v1/')
  expect(wordOf('https://bücher.example/v1')).toBe('https://xn--bcher-kva.example/v1')
  expect(wordOf('https://api.example.com/v1/chat?version=1')).toBe('https://api.example.com/v1/chat?version=1')
})

test('a private address is good only with the reach for it, in every spelling', () => {
  const urls = ['http://127.0.0.1/', 'http://127.1/', 'http://0x7f000001/', 'http://[::ffff:7f00:1]/', 'http://①②⑦.1/']
  for (const url of urls) {
    expect([url, wordOf(url)]).toEqual([url, 'loopback'])
    expect(checkUrl(url, 'private').kind).toBe('good')
  }
  for (const url of ['http://localhost/', 'http://LOCALHOST./', 'http://x.localhost/']) {
    expect([url, wordOf(url)]).toEqual([url, 'loopback'])
  }
})

test('some addresses cannot be allowed', () => {
  for (const url of ['http://169.254.169.254/', 'http://0/', 'http://[fe80::1]/', 'http://[64:ff9b::a9fe:a9fe]/']) {
    expect(checkUrl(url, 'private')).toMatchObject({ kind: 'bad', message: expect.stringContaining('never called') })
  }
})

const wrong: [string, string][] = [
  ['https://user@example.com/', 'credentials'],
  ['https://user:secret@example.com/', 'credentials'],
  ['https://@example.com/', 'credentials'],
  ['https://example.com\\@127.0.0.1/', 'backslash'],
  ['https:\\\\example.com/', 'backslash'],
  ['https://exam\tple.com/', 'control'],
  ['https://example.com/\r\nx: y', 'control'],
  [' https://example.com/', 'white space'],
  ['https:example.com', 'absolute'],
  ['https:///example.com', 'absolute'],
  ['//example.com/', 'absolute'],
  ['file:///etc/passwd', 'absolute'],
  ['ftp://example.com/', 'absolute'],
  ['https://[fe80::1%25eth0]/', 'absolute'],
  ['https://', 'absolute'],
  ['', 'absolute'],
  [`https://example.com/${'x'.repeat(9_000)}`, 'too long'],
]
test.each(wrong)('%j is refused', (url, why) => {
  expect(checkUrl(url, 'private')).toMatchObject({ kind: 'bad', message: expect.stringContaining(why) })
})

test('a URL of a client is called only at the ports of web servers', () => {
  for (const port of ['', ':80', ':443', ':0443']) {
    for (const scheme of ['http', 'https'])
      expect(checkUrl(`${scheme}://example.com${port}/a.png`, 'web').kind).toBe('good')
  }
  for (const port of [':22', ':25', ':81', ':6379', ':8080', ':8443', ':0', ':65535']) {
    const url = `https://example.com${port}/a.png`
    expect([url, checkUrl(url, 'web')]).toMatchObject([url, { kind: 'bad', fault: 'port' }])
    expect(faultOfClientUrl(url, 'web')).toBe('is at a port other than 80 and 443')
    // An operator's vendor may be at any port.
    expect(checkUrl(url, 'public').kind).toBe('good')
  }
  expect(checkUrl('http://127.0.0.1/', 'web')).toEqual({ kind: 'private', name: 'loopback' })
  expect(vet(['127.0.0.1', '10.0.0.1'], 'web').kind).toBe('none')
  expect(vet(['127.0.0.1', '8.8.8.8'], 'web')).toEqual({ kind: 'some', addresses: ['8.8.8.8'] })
})

test('names that only a network’s own resolver knows are private to clients', () => {
  const names = ['redis', 'metadata', 'printer.local', 'PRINTER.LOCAL.', 'metadata.google.internal', 'nas.home.arpa']
  for (const name of [...names, 'x.localhost', 'vllm.svc.cluster.local', 'localhost', '127.1', '[::1]', '10.0.0.1']) {
    expect([name, faultOfClientUrl(`http://${name}/a.png`, 'public')]).toEqual([name, 'is at a private address'])
  }
  const open = [
    'example.com',
    'internal.example.com',
    'local.example',
    '1.2.3.4',
    '[2606:4700::1]',
    'x.notlocal',
    'a.b.',
  ]
  for (const name of open) expect([name, faultOfClientUrl(`http://${name}/a`, 'public')]).toEqual([name, undefined])
  expect(faultOfClientUrl('http://169.254.169.254/', 'public')).toContain('never called')
  expect(faultOfClientUrl('file:///etc/passwd', 'public')).toContain('http or https')
})

test('a base URL has neither query nor fragment', () => {
  for (const tail of ['?', '?a=b', '#', '#x']) {
    expect(checkBaseUrl(`https://example.com/v1${tail}`, 'public')).toMatchObject({ kind: 'bad' })
  }
  expect(checkBaseUrl('https://example.com/v1', 'public').kind).toBe('good')
  const unfilled = 'https://{region}.example.com/v1'
  expect(checkBaseUrl(unfilled, 'public')).toMatchObject({ kind: 'bad', fault: 'placeholder' })
})

test('of mixed addresses only allowed ones are connected to', () => {
  const mixed = ['127.0.0.1', '8.8.8.8', '169.254.169.254', '::1', '2606:4700::1', 'localhost', '127.1']
  expect(vet(mixed, 'public')).toEqual({ kind: 'some', addresses: ['8.8.8.8', '2606:4700::1'] })
  expect(vet(mixed, 'private')).toEqual({ kind: 'some', addresses: ['127.0.0.1', '8.8.8.8', '::1', '2606:4700::1'] })
})

test('a refusal names the remedy if there is one, and never the address', () => {
  const told = (addresses: string[], reach: 'public' | 'private'): string => JSON.stringify(vet(addresses, reach))
  expect(told(['10.1.2.3', '169.254.169.254'], 'public')).toMatch(/private network.*allow_private/)
  expect(told(['169.254.169.254'], 'private')).toContain('never called (cloud metadata)')
  expect(told(['vendor.example'], 'private')).toContain('not an address')
  expect(told([], 'private')).toContain('no address')
  expect(told(['10.1.2.3', '169.254.169.254'], 'public')).not.toMatch(/\d\.\d/)
})

test('the services that give keys are reached by their own constants alone', () => {
  const services = ['http://169.254.169.254/latest', 'http://169.254.170.2/v2', 'http://169.254.170.23/v1']
  for (const url of services) {
    expect(checkUrl(url, 'metadata').kind).toBe('good')
    for (const reach of ['web', 'public', 'private'] as const) expect(checkUrl(url, reach).kind).toBe('bad')
  }
  for (const url of ['http://example.com/', 'http://10.0.0.1/', 'http://127.0.0.1/', 'http://169.254.1.1/']) {
    expect(checkUrl(url, 'metadata').kind).toBe('bad')
  }
  expect(vet(['169.254.169.254', '10.0.0.1', '1.1.1.1'], 'metadata')).toEqual({
    kind: 'some',
    addresses: ['169.254.169.254'],
  })
  expect(vet(['169.254.169.254'], 'private').kind).toBe('none')
})
