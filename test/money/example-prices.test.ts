/** No example price in README or `tollgate init` is below its cost. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { exampleConfig } from '../../src/cli/example-config.ts'
import { startGateway } from '../support/gateway.ts'

type ListedModel = {
  readonly id: string
  readonly unpriced: readonly string[]
  readonly offers: readonly { readonly below_cost: readonly unknown[] }[]
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, ofReadme = ''] = /^```yaml\n(.*?)^```/ms.exec(readme) ?? []
const env = {
  OPENAI_API_KEY: 'sk-x',
  OTHER_KEY: 'x',
  ARK_API_KEY: 'x',
  MEDIAKIT_API_KEY: 'x',
  VERTEX_ACCOUNT: '{"client_email":"a@b.example","private_key":"x","token_uri":"https://oauth2.googleapis.com/token"}',
}

test.each([
  ['README.md', ofReadme, ['fast', 'filmer', 'painter']],
  ['tollgate init', exampleConfig.replaceAll(/^# /gm, ''), ['gpt-4.1-mini', 'painter']],
])('the example of %s sells nothing below its cost', async (_, yaml, ids) => {
  const gateway = await startGateway({ yaml, env })
  try {
    const models = (await gateway.operate<ListedModel[]>('model.list')).filter(({ id }) => ids.includes(id))
    expect(models.map(({ id }) => id).toSorted()).toEqual(ids)
    for (const { id, offers, unpriced } of models) {
      expect({ id, below: offers.flatMap((offer) => offer.below_cost), unpriced }).toEqual({
        id,
        below: [],
        unpriced: [],
      })
    }
  } finally {
    await gateway.close()
  }
})
