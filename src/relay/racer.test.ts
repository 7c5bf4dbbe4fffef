import { expect, test } from 'bun:test'
import { ReplyMemory } from '../lib/runtime/reply-memory.ts'
import { GatewayRequest } from './call.ts'
import { Racer } from './racer.ts'

const callWith = (replies: ReplyMemory): GatewayRequest =>
  new GatewayRequest({
    id: 'req_1',
    startedMs: 0,
    caller: { account: { id: 'a' } },
    replies,
  } as unknown as ConstructorParameters<typeof GatewayRequest>[0])

test('a long reply that waits for memory goes on when the attempt beside it fails', () => {
  const replies = new ReplyMemory({ max: 100, accountMax: 100 })
  const other = replies.share('b')
  // Another request has nearly all of the memory.
  other.grow(60, 40, () => undefined)
  const call = callWith(replies)
  const [one, two] = [new Racer(call), new Racer(call)]
  let goesOn = 0
  expect(one.memoryShare()?.grow(10, 10, () => goesOn++)).toBe(false)
  expect(two.memoryShare()?.grow(10, 10, () => undefined)).toBe(false)
  two.memoryShare()?.settle()
  two.ended('failed')
  other.release()
  expect(goesOn).toBe(1)
  one.memoryShare()?.settle()
  one.ended('whole')
  expect([call.replyMemory?.bytes, replies.bytes]).toEqual([10, 10])
  call.replyMemory?.release()
  expect(replies.bytes).toBe(0)
})

test('the memory of an attempt that lost is given back at once, and that of the winner serves the rest', () => {
  const replies = new ReplyMemory({ max: 1_000, accountMax: 1_000 })
  const call = callWith(replies)
  const [one, two] = [new Racer(call), new Racer(call)]
  one.memoryShare()?.grow(10, 0, () => undefined)
  two.memoryShare()?.grow(20, 0, () => undefined)
  let stopped = 0
  two.took({ abort: () => stopped++ })
  two.lost()
  one.ended('whole')
  expect([stopped, two.upstreamStopped, one.upstreamStopped, replies.bytes]).toEqual([1, true, false, 10])
  expect(one.memoryShare()).toBe(call.memoryShare() ?? expect.unreachable())
})
