/**
 * Loaded into the gateway's process before the program (`bun --preload`). It reports when a shared prototype gets a new
 * field. With TOLLGATE_TEST_POLLUTES it adds one itself, a second after the start, to prove that it would be noticed.
 */
const shared = { Object, Array, Function, String, Map, Promise }

const fieldsOf = (): string =>
  Object.entries(shared)
    .map(([name, { prototype }]) => `${name} ${Reflect.ownKeys(prototype).map(String).toSorted().join(' ')}`)
    .join('\n')

const before = fieldsOf()
const look = (): void => {
  if (fieldsOf() !== before) console.log('a prototype was polluted')
}
if (Bun.isMainThread) setInterval(look, 50).unref()
if (Bun.isMainThread && process.env['TOLLGATE_TEST_POLLUTES']) {
  setTimeout(() => Object.defineProperty(Object.prototype, 'polluted', { value: 'yes', configurable: true }), 1_000)
}
