/** Every sentence of the console. `{name}` is a value, `{n|one|many}` a choice by number. */
import { atTheDoor } from './en/at-the-door.ts'
import { operator } from './en/operator.ts'
import { playground } from './en/playground.ts'

export const en = { ...atTheDoor, ...playground, ...operator }
