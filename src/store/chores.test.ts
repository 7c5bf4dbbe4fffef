import { expect, test } from 'bun:test'
import { openChores } from './chores.ts'
import { onInstances } from './postgres-contract.ts'
import { statement } from './statement.ts'
import { mustWrite } from './store.ts'

const register = statement('INSERT INTO instance (id) VALUES (?)')
const end = statement('UPDATE instance SET state = ?2 WHERE id = ?1')

test('a process that has its database alone has all chores', async () => {
  const write = (): never => {
    throw new Error('nothing is written')
  }
  expect(await openChores({ write }, undefined).isMine('sweep')).toBe(true)
})

test('of living instances one has a chore, and keeps it until it ends', async () => {
  const under = await onInstances(() => undefined)()
  const { first, second } = under
  const ids = ['run_1', 'run_2', 'run_3']
  for (const id of ids) await mustWrite(first.store, [{ run: register, bind: [id], changes: 1 }])
  const chores = ids.map((id, i) => openChores((i === 0 ? first : second).store, id))
  const owners = async (name: string): Promise<string[]> => {
    const mine = await Promise.all(chores.map((one) => one.isMine(name)))
    return ids.filter((_, i) => mine[i])
  }
  for (const ending of ['dead', 'gone']) {
    const [owner = '', ...others] = await owners(ending)
    expect(others).toEqual([])
    for (let i = 0; i < 3; i++) expect(await owners(ending)).toEqual([owner])
    // Each chore has an owner of its own.
    expect(await owners(`other than ${ending}`)).toHaveLength(1)
    await mustWrite(first.store, [{ run: end, bind: [owner, ending], changes: 1 }])
    ids.splice(ids.indexOf(owner), 1)
    chores.splice(0, chores.length, ...ids.map((id, i) => openChores((i === 0 ? first : second).store, id)))
    const [next = '', ...rest] = await owners(ending)
    expect([ids.includes(next), rest]).toEqual([true, []])
  }
  await under.close()
})
