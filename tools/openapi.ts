/**
 * bun tools/openapi.ts: writes docs/openapi.json, the document that the server serves at /openapi.json.
 * tools/openapi.test.ts fails if the file is out of date.
 */
import manifest from '../package.json' with { type: 'json' }
import { publicOpenApi } from '../src/edge/openapi.ts'

export const FILE = `${import.meta.dir}/../docs/openapi.json`

/** The document as text. */
export const writeDocument = async (): Promise<string> =>
  `${JSON.stringify(await publicOpenApi(manifest.version), null, 2)}\n`

if (import.meta.main) await Bun.write(FILE, await writeDocument())
