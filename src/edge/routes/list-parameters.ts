import type { RouteParameter } from '../route.ts'
import { listBounds } from '../state.ts'

/** The parameters of a paged list, as `listPageOf` reads them. */
export const listParameters: readonly RouteParameter[] = [
  {
    name: 'limit',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: listBounds.limitMax, default: listBounds.limitDefault },
  },
  { name: 'order', in: 'query', schema: { enum: ['asc', 'desc'], default: 'desc' } },
  {
    name: 'after',
    in: 'query',
    schema: { type: 'string', description: 'The id of the last item on the previous page.' },
  },
]
