/** Checks which images a message accepts, and explains why others are refused. */
import { dataUrlOf } from '../../lib/data-url.ts'
import type { AttachedPicture } from './messages.ts'
import type { Problem } from './settings.ts'
import { MIB } from '../../lib/units.ts'

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const PICTURES_MAX = 8
const PICTURE_MIB_MAX = 10
/** A conversation is sent again with every turn. A request has at most 32 MiB, and base64 adds a third. */
const ALL_MIB_MAX = 20

/** The images that exist already, in this message and in the whole conversation. */
type Here = { readonly count: number; readonly bytes: number }
type AddedFiles = { readonly added: readonly AttachedPicture[]; readonly problem: Problem | undefined }

export async function attach(files: readonly File[], here: Here): Promise<AddedFiles> {
  const good: File[] = []
  let problem: Problem | undefined
  let bytes = here.bytes
  for (const file of files) {
    const refused = refusalOf(file, { count: here.count + good.length, bytes })
    problem = refused ?? problem
    if (refused) continue
    good.push(file)
    bytes += file.size
  }
  const added = await Promise.all(
    good.map(async (file) => ({ name: file.name, address: await dataUrlOf(file), bytes: file.size })),
  )
  return { added, problem }
}

function refusalOf(file: File, { count, bytes }: Here): Problem | undefined {
  const { name, type, size } = file
  if (!pictureTypes.includes(type)) return { key: 'play.wrong.pictureType', values: { name } }
  if (size > PICTURE_MIB_MAX * MIB) return { key: 'play.wrong.pictureSize', values: { name, max: PICTURE_MIB_MAX } }
  if (count >= PICTURES_MAX) return { key: 'play.wrong.pictureCount', values: { max: PICTURES_MAX } }
  if (bytes + size > ALL_MIB_MAX * MIB) return { key: 'play.wrong.pictureSum', values: { max: ALL_MIB_MAX } }
  return undefined
}
