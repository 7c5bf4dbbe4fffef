/**
 * Loaded into the gateway's process before the program (`bun --preload`): says so when a prototype that every object
 * shares gets a field it did not have. With TOLLGATE_TEST_POLLUTES it makes one itself, a second after the start, to
 * show that it would be seen.
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
