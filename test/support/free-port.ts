/** A port of loopback that nobody has at the moment. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  listener.stop(true)
  return listener.port
}
