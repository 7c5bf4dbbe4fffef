import type { GatewayRequest } from './call.ts'

/** Waits while the call's answer is still wanted. */
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
