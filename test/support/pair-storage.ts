/** What the instances of a pair share, and what stays when a test starts the pair again. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestS3 } from './s3.ts'

export type PairStorage = {
  readonly databaseUrl: string
  /** Has the files of images and videos. */
  readonly s3: TestS3
  /** The data folder of the second instance. */
  readonly secondFolder: string
  /** The declaration that the database follows. */
  yaml: string | undefined
}

/** By the data folder of the first instance. */
const storages = new Map<string, Promise<PairStorage>>()

const makeStorage = async (yaml: string | undefined): Promise<PairStorage> => {
  const { freshDatabase } = await import('./postgres.ts')
  const [databaseUrl, s3] = await Promise.all([freshDatabase(), TestS3.start()])
  return { databaseUrl, s3, secondFolder: mkdtempSync(join(tmpdir(), 'tollgate-test-')), yaml }
}

/** The storage of a pair. It is made when the pair is new. The first instance then applies the declaration. */
export function storageOf(folder: string, yaml?: string): Promise<PairStorage> {
  const known = storages.get(folder)
  if (known) return known
  const made = makeStorage(yaml)
  storages.set(folder, made)
  return made
}

/** Forgets the storage of a folder that is removed. */
export async function dropStorage(folder: string): Promise<void> {
  const storage = await storages.get(folder)
  storages.delete(folder)
  await storage?.s3.stop()
}
