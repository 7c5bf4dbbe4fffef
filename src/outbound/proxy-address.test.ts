import { expect, test } from 'bun:test'
import { EnvironmentProxies } from './environment-proxies.ts'
import { readProxy, shownProxy } from './proxy-address.ts'

const shownOf = (text: string): string => {
  const read = readProxy(text)
  return read.kind === 'proxy' ? `${shownProxy(read.proxy)} ${read.proxy.secret ?? ''}`.trim() : read.message
}

test.each([
  ['proxy.example', 'http://proxy.example:80'],
  ['proxy.example:3128', 'http://proxy.example:3128'],
  ['HTTP://Proxy.Example:3128/', 'http://proxy.example:3128'],
  ['socks5://10.0.0.1', 'socks5://10.0.0.1:1080'],
  ['socks5h://[::1]:80', 'socks5h://[::1]:80'],
  ['http://me@proxy.example', 'http://proxy.example:80 me:'],
  ['http://me:p%40ss%3A@proxy.example', 'http://proxy.example:80 me:p@ss:'],
])('reads %s', (text, shown) => {
  expect(shownOf(text)).toBe(shown)
})

test.each([
  'https://proxy.example',
  'ftp://proxy.example',
  'http://proxy.example/path',
  'http://proxy.example?query',
  'http://',
  'http://169.254.169.254:80',
  'http://proxy.example:0',
  'http://proxy.example:99999',
  'http://a%0d%0ab:c@proxy.example',
  'http://a%3Ab:c@proxy.example',
  'http://%zz@proxy.example',
  `http://me:${'x'.repeat(256)}@proxy.example`,
])('refuses %s without repeating it', (text) => {
  const read = readProxy(text)
  expect(read.kind).toBe('bad')
  expect(shownOf(text)).not.toContain('proxy.example')
})

const proxyOf = (env: Record<string, string>, url: string): string | undefined => {
  const proxy = new EnvironmentProxies(env).proxyFor(new URL(url))
  return proxy && shownProxy(proxy)
}

test('a protocol has its own variable, and lower case wins', () => {
  const env = { HTTP_PROXY: 'one:1', http_proxy: 'two:2', HTTPS_PROXY: 'three:3' }
  expect(proxyOf(env, 'http://a.example')).toBe('http://two:2')
  expect(proxyOf(env, 'https://a.example')).toBe('http://three:3')
  expect(proxyOf({ ALL_PROXY: 'socks5h://all' }, 'https://a.example')).toBe('socks5h://all:1080')
  expect(proxyOf({ HTTP_PROXY: 'one:1', http_proxy: '' }, 'http://a.example')).toBeUndefined()
  expect(proxyOf({ HTTPS_PROXY: 'one:1' }, 'http://a.example')).toBeUndefined()
})

test('a variable that cannot be used is named without its value', () => {
  const message = 'HTTPS_PROXY: the address must begin with http://, socks5:// or socks5h://'
  expect(() => new EnvironmentProxies({ https_proxy: 'https://me:word@proxy.example' })).toThrow(message)
})

test.each([
  ['*', 'http://a.example', true],
  ['a.example', 'http://a.example', true],
  ['a.example', 'http://b.a.example:8080', true],
  ['.a.example', 'http://b.a.example', true],
  ['*.a.example', 'http://b.a.example', true],
  ['a.example', 'http://ba.example', false],
  ['x, A.Example.', 'http://a.example', true],
  ['a.example:8080', 'http://a.example', false],
  ['a.example:80', 'http://a.example', true],
  ['127.0.0.1 10.0.0.0/8', 'http://10.20.30.40', true],
  ['10.0.0.0/8', 'http://11.0.0.1', false],
  ['fd00::/8', 'http://[fd12::1]', true],
  ['[::1]:80', 'http://[::1]', true],
  ['::1', 'http://[::1]', true],
  ['', 'http://a.example', false],
])('NO_PROXY %s excepts %s: %p', (exceptions, url, isExcepted) => {
  expect(proxyOf({ HTTP_PROXY: 'proxy', NO_PROXY: exceptions }, url) === undefined).toBe(isExcepted)
})
