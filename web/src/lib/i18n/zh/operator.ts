import type { operator as english } from '../en/operator.ts'

export const operator = {} as const satisfies Record<keyof typeof english, string>
