import { expect, test } from 'bun:test'
import { GatewayRequest } from './call.ts'

const anyCall = (): GatewayRequest =>
  new GatewayRequest({ id: 'req_1', startedMs: 0 } as unknown as ConstructorParameters<typeof GatewayRequest>[0])

test('a cancelled call stops everything that it waits for, and nothing that has ended', () => {
  const call = anyCall()
  const stopped: string[] = []
  const flight = (name: string) => ({ abort: () => void stopped.push(name) })
  const [stream, first, second] = [flight('stream'), flight('first'), flight('second')]
  call.took(stream)
  // A picture in an event is fetched while the stream is still open.
  call.took(first)
  call.landed(first)
  call.took(second)
  call.cancel('revoked')
  expect(stopped.toSorted()).toEqual(['second', 'stream'])
})

test('an attempt that ends while a call is being stopped prevents no other from being stopped', () => {
  const call = anyCall()
  let stopped = 0
  const flights = [0, 1, 2].map(() => ({
    abort: () => {
      stopped++
      for (const one of flights) call.landed(one)
    },
  }))
  for (const one of flights) call.took(one)
  call.stopUpstream()
  expect(stopped).toBe(3)
})
