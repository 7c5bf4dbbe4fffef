import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SharedBudget } from '../lib/primitives/shared-budget.ts'
import { openFolderUploads } from './folder-uploads.ts'
import { describeUploadsContract } from './uploads-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-uploads-'))
afterAll(() => rmSync(folder, { recursive: true }))
let serial = 0

describeUploadsContract('A folder', (room) => {
  const own = join(folder, String(serial++))
  const reopen = () => openFolderUploads(own, room, new SharedBudget({ max: 1_000, shareMax: 600 }))
  return { uploads: reopen(), reopen }
})
