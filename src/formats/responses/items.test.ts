import { expect, test } from 'bun:test'
import { timeOrderedId } from '../../lib/primitives/ids.ts'
import { outputItemId, responseOfItem } from './items.ts'

test('an item names its response, also in the shorter ids of the first versions', () => {
  for (const id of [timeOrderedId('resp_'), `resp_${'0k'.repeat(13)}`]) {
    expect(responseOfItem(outputItemId(id, 'message', 3))).toBe(id)
    // OpenAI's own bound for an id.
    expect(outputItemId(id, 'function_call', 999_999).length).toBeLessThanOrEqual(64)
  }
  for (const id of [`resp_${'0'.repeat(27)}`, `resp_${'0'.repeat(35)}`, 'resp_']) {
    expect(responseOfItem(outputItemId(id, 'message', 3))).toBeUndefined()
  }
})
