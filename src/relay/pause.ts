import type { GatewayRequest } from './call.ts'

/** Waits, for as long as somebody wants the call's answer. */
export function pause(call: GatewayRequest, waitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  const flight = { abort: resolve }
  call.took(flight)
  if (call.upstreamStopped) resolve()
  return promise.finally(() => {
    clearTimeout(timer)
    call.landed(flight)
  })
}
