/** LiteLLM's proxy (Python, MIT) in a virtual environment of its own, without a database: one key, no spend. */
import { join } from 'node:path'
import { runToEnd, type Contender, type Field } from '../contender.ts'

/** It does not start without a key, and checks the key with each request. */
const MASTER_KEY = `sk-${'bench'.repeat(8)}`

const config = ({ upstreamPort, models }: Field): string =>
  JSON.stringify({
    // YAML is a superset of JSON.
    model_list: models.map((name) => ({
      model_name: name,
      litellm_params: { model: `openai/${name}`, api_base: `http://127.0.0.1:${upstreamPort}/v1`, api_key: 'vendor' },
    })),
    general_settings: { master_key: MASTER_KEY },
    litellm_settings: { telemetry: false, num_retries: 0 },
  })

export const litellm: Contender = {
  name: 'litellm',
  async install(folder) {
    const environment = join(folder, 'venv')
    await runToEnd([Bun.which('python3') ?? 'python3', '-m', 'venv', environment], folder)
    await runToEnd([join(environment, 'bin/pip'), 'install', '--quiet', 'litellm[proxy]'], folder)
  },
  command: ({ folder, port }) => [
    join(folder, 'venv/bin/litellm'),
    '--config=config.yaml',
    '--host=127.0.0.1',
    `--port=${port}`,
    '--num_workers=1',
  ],
  files: (field) => ({ 'config.yaml': config(field) }),
  // Otherwise it fetches a list of prices at its start.
  env: () => ({ LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_MODE: 'PRODUCTION' }),
  basePath: '/v1',
  needsWarmUp: true,
  effort: 0.02,
  startTimeoutMs: 180_000,
  prepare: async () => ({ authorization: `Bearer ${MASTER_KEY}` }),
}
