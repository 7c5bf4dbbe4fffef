import { expect, test } from 'bun:test'
import type { Failure } from '../domain/failure.ts'
import type { EdgeServices } from './edge-options.ts'
import { generate } from './generate.ts'
import { addressLimiter } from './address-limiter.ts'
import type { RequestBody } from './request-body.ts'
import type { RequestContext } from './request-context.ts'

/** Sends requests from addresses one after the other. The limiter of accounts refuses each that reaches it. */
async function refusals(
  [addressPerMinute, addressConcurrent]: readonly [number, number],
  addresses: readonly string[],
) {
  const failures: Failure[] = []
  const services = {
    addresses: addressLimiter({ addressPerMinute, addressConcurrent }, undefined),
    limiter: { enter: () => ({ kind: 'concurrency', scope: 'account', limit: 0 }), headers: () => ({}) },
    responder: {
      callerOf: () => ({ key: {}, account: {} }),
      clientOf: ({ id }: RequestContext) => id,
      refuse: (_: RequestContext, failure: Failure) => void failures.push(failure),
    },
  } as unknown as EdgeServices
  for (const id of addresses) await generate(services, { id } as RequestContext, {} as RequestBody)
  return failures.map(({ message }) => message.split(' ').slice(0, 2).join(' '))
}

test('requests of one address are limited before those of an account, if the operator wishes', async () => {
  const senders = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1']
  const [account, address] = ['This account', 'This address']
  expect(await refusals([0, 0], senders)).toEqual([account, account, account, account])
  expect(await refusals([2, 0], senders)).toEqual([account, account, account, address])
  // A request leaves its address when it ends.
  expect(await refusals([0, 1], senders)).toEqual([account, account, account, account])
})

test('instances count the requests of an address together, and a failing count refuses nobody', async () => {
  const taken: string[] = []
  const answers = [0, 7_000, new Error('the database is away')]
  const take = (name: string): Promise<number> => {
    taken.push(name)
    const answer = answers.shift() ?? 0
    return typeof answer === 'number' ? Promise.resolve(answer) : Promise.reject(answer)
  }
  const opened: unknown[] = []
  const limiter = addressLimiter({ addressPerMinute: 120, addressConcurrent: 0 }, (kind, rule) => {
    opened.push([kind, rule])
    return { take, giveBack: () => undefined }
  })
  const addresses = ['2001:db8::1', '2001:db8::2', '192.0.2.1']
  const waits = addresses.map(async (address) => {
    const permit = limiter?.enter(address)
    return typeof permit === 'object' ? permit.waitMs : permit
  })
  expect(await Promise.all(waits)).toEqual([0, 7_000, 0])
  expect(opened).toEqual([['clients', { burst: 120, refillMs: 500 }]])
  expect(taken).toEqual(['2001:db8:0:0::/64', '2001:db8:0:0::/64', '192.0.2.1'])
  expect(addressLimiter({ addressPerMinute: 0, addressConcurrent: 0 }, () => expect.unreachable())).toBeUndefined()
})
