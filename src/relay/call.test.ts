import { expect, test } from 'bun:test'
import { GatewayRequest } from './call.ts'

const anyCall = (): GatewayRequest =>
  new GatewayRequest({ id: 'req_1', startedMs: 0 } as unknown as ConstructorParameters<typeof GatewayRequest>[0])

test('a cancelled call stops whatever it waits for, and nothing that has landed', () => {
  const call = anyCall()
  const stopped: string[] = []
  const flight = (name: string) => ({ abort: () => void stopped.push(name) })
  const [stream, first, second] = [flight('stream'), flight('first'), flight('second')]
  call.took(stream)
  // A picture in an event of the stream is fetched while that is still open.
  call.took(first)
  call.landed(first)
  call.took(second)
  call.cancel('revoked')
  expect(stopped.toSorted()).toEqual(['second', 'stream'])
})

test('what lands while a call is being stopped keeps no other from being stopped', () => {
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
