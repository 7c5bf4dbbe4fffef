import type { Failure } from '../../domain/failure.ts'

export const invalidMask = (message: string): Failure => ({
  kind: 'invalid_value',
  code: 'invalid_mask',
  message,
  param: 'mask',
})
