/** An expression that finds the layout faults of a page. Its result is a list of sentences. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const source = readFileSync(join(import.meta.dir, 'layout-faults.js'), 'utf8').replace('export function', 'function')

export const LAYOUT_FAULTS = `(() => { ${source}; return layoutFaults() })()`
