/** Loaded into a gateway before the program: its ledger becomes a `LateLedger`, whose orders are in a file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plugin } from 'bun'

const late = join(import.meta.dir, 'late-ledger.ts')
const wrapped = `
import { LateLedger } from ${JSON.stringify(late)}
const openLateLedger: typeof openSqliteLedger = async (store, options) => {
  const opened = await openSqliteLedger(store, options)
  return { ...opened, ledger: new LateLedger(opened.ledger, process.env['TOLLGATE_LATE_ORDERS'] ?? '') }
}
`

plugin({
  name: 'late-ledger',
  setup(build) {
    build.onLoad({ filter: /\/src\/configured-ledger\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replaceAll('return openSqliteLedger(', 'return openLateLedger(')
      if (contents === source) throw new Error('the ledger is opened in another way')
      return { contents: contents + wrapped, loader: 'ts' }
    })
  },
})
