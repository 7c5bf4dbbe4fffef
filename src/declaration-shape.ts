/** Shapes that the parts of a declaration share. */
import { z } from 'zod'

/** An object that allows only known keys. The message about another key lists the known ones. */
export const strict = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown key '${issue.keys.join("', '")}'; there are ${Object.keys(shape).join(', ')}`
        : undefined,
  })

export const positiveCount = z.int().min(1)
