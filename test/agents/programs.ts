/** The tested coding agents: their names, how they are pointed at a gateway, and how they get a task. */
import type { ClientDialect } from '../../src/domain/turn.ts'
import { TEXT, WORD } from './mind.ts'

/** How a program is told of a model: in which dialect it then speaks, and by which name, one that it knows. */
export type Way = { readonly dialect: ClientDialect; readonly model: string }

/** Where and with what a program is started. */
export type Place = {
  /** The folder that its package is installed in. */
  readonly installed: string
  readonly home: string
  readonly cwd: string
  /** The gateway, without a path. */
  readonly origin: string
  readonly key: string
  readonly way: Way
  readonly task: string
  /** The MCP server that it is given. */
  readonly words: { readonly command: string; readonly args: readonly string[]; readonly env: Record<string, string> }
}

export type Start = {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Its settings: texts by path. */
  readonly files?: Readonly<Record<string, string>>
}

/** What is to be seen of a task that was done. */
type Proof = {
  readonly writesFile: boolean
  /** Whether it calls the MCP server, which it does once. */
  readonly callsServer: boolean
  /** What must be in its answer. */
  readonly says: readonly string[]
}

export type Program = {
  readonly name: string
  readonly package: string
  /** The program in the folder that its package is installed in. */
  readonly file: string
  readonly ways: readonly Way[]
  readonly proof: Proof
  start(place: Place): Start
}

const all: Proof = { writesFile: true, callsServer: true, says: [WORD, TEXT] }
const node = Bun.which('node') ?? process.execPath
const python = Bun.which('python3') ?? 'python3'
const flags = (text: string): readonly string[] => text.split(' ')
const json = (value: object): string => JSON.stringify(value, null, 2)
const binary = `${process.platform}-${process.arch}`

const claudeCode: Program = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  file: `node_modules/@anthropic-ai/claude-code-${binary}/claude`,
  ways: [
    { dialect: 'messages', model: 'claude-opus-4-8' },
    { dialect: 'messages', model: 'claude-haiku-4-5' },
  ],
  proof: all,
  start: ({ installed, home, origin, key, way, task, words }) => ({
    command: [
      `${installed}/${claudeCode.file}`,
      ...flags(`-p --model ${way.model} --output-format json --max-turns 12`),
      ...flags('--strict-mcp-config --allowedTools Bash,mcp__words__secret_word'),
      `--mcp-config=${home}/mcp.json`,
      task,
    ],
    env: {
      ANTHROPIC_BASE_URL: origin,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_SMALL_FAST_MODEL: way.model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: way.model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    files: { [`${home}/mcp.json`]: json({ mcpServers: { words: { type: 'stdio', ...words } } }) },
  }),
}

const codex: Program = {
  name: 'Codex CLI',
  package: '@openai/codex',
  file: 'node_modules/@openai/codex/bin/codex.js',
  // Each is asked for in a way of its own: tools behind a search, tools in the input, tools as they always were.
  ways: ['gpt-5.5', 'gpt-5.6-sol', 'gpt-5'].map((model) => ({ dialect: 'responses', model })),
  proof: all,
  start({ installed, home, origin, key, way, task, words }) {
    const settings = [
      `model = ${JSON.stringify(way.model)}`,
      'model_provider = "tollgate"',
      '[model_providers.tollgate]',
      'name = "Tollgate"',
      `base_url = "${origin}/v1"`,
      'env_key = "TOLLGATE_KEY"',
      'wire_api = "responses"',
      'request_max_retries = 0',
      'stream_max_retries = 0',
      '[mcp_servers.words]',
      `command = ${JSON.stringify(words.command)}`,
      `args = ${JSON.stringify(words.args)}`,
      '[mcp_servers.words.env]',
      ...Object.entries(words.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
      '[analytics]',
      'enabled = false',
    ]
    const options = ['--skip-git-repo-check', '--json', '--dangerously-bypass-approvals-and-sandbox']
    return {
      command: [node, `${installed}/${codex.file}`, 'exec', ...options, task],
      env: { CODEX_HOME: `${home}/codex`, TOLLGATE_KEY: key },
      files: { [`${home}/codex/config.toml`]: settings.join('\n') },
    }
  },
}

const openCodeProviders: Readonly<Record<ClientDialect, string>> = {
  messages: 'anthropic',
  responses: 'openai',
  gemini: 'google',
  chat: 'deepseek',
}

const openCode: Program = {
  name: 'opencode',
  package: 'opencode-ai',
  file: `node_modules/opencode-${binary}/bin/opencode`,
  ways: [
    { dialect: 'chat', model: 'deepseek-v4-pro' },
    { dialect: 'messages', model: 'claude-sonnet-4-5' },
    { dialect: 'responses', model: 'gpt-5.5' },
    { dialect: 'gemini', model: 'gemini-3.1-pro-preview' },
  ],
  proof: all,
  start({ installed, home, origin, key, way, task, words }) {
    const provider = openCodeProviders[way.dialect]
    const baseURL = `${origin}/${way.dialect === 'gemini' ? 'v1beta' : 'v1'}`
    const { command, args, env } = words
    const settings = {
      autoupdate: false,
      share: 'disabled',
      enabled_providers: [provider],
      small_model: `${provider}/${way.model}`,
      permission: { '*': 'allow' },
      provider: { [provider]: { options: { baseURL, apiKey: key } } },
      mcp: { words: { type: 'local', command: [command, ...args], environment: env, enabled: true } },
    }
    return {
      command: [`${installed}/${openCode.file}`, 'run', '--pure', '--auto', '-m', `${provider}/${way.model}`, task],
      env: {
        OPENCODE_CONFIG: `${home}/opencode.json`,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_SHARE: '1',
      },
      files: { [`${home}/opencode.json`]: json(settings) },
    }
  },
}

const geminiCli: Program = {
  name: 'gemini-cli',
  package: '@google/gemini-cli',
  file: 'node_modules/@google/gemini-cli/bundle/gemini.js',
  ways: [
    { dialect: 'gemini', model: 'gemini-2.5-pro' },
    { dialect: 'gemini', model: 'gemini-3.1-pro-preview' },
  ],
  proof: all,
  start: ({ installed, home, origin, key, way, task, words }) => ({
    command: [
      node,
      `${installed}/${geminiCli.file}`,
      ...flags(`-m ${way.model} --yolo --skip-trust --output-format json -p`),
      task,
    ],
    env: {
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: origin,
      GEMINI_CLI_NO_RELAUNCH: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
    },
    files: {
      [`${home}/.gemini/settings.json`]: json({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
        mcpServers: { words: { ...words, trust: true } },
      }),
    },
  }),
}

const qwenAuth: Readonly<Record<ClientDialect, string>> = {
  chat: 'openai',
  messages: 'anthropic',
  gemini: 'gemini',
  responses: '',
}

const qwenCode: Program = {
  name: 'qwen-code',
  package: '@qwen-code/qwen-code',
  file: 'node_modules/@qwen-code/qwen-code/cli.js',
  ways: [
    { dialect: 'chat', model: 'qwen3-coder-plus' },
    { dialect: 'chat', model: 'deepseek-reasoner' },
    { dialect: 'messages', model: 'claude-sonnet-4-5' },
    { dialect: 'gemini', model: 'gemini-2.5-pro' },
  ],
  proof: all,
  start: ({ installed, home, origin, key, way, task, words }) => ({
    command: [
      node,
      `${installed}/${qwenCode.file}`,
      ...flags(`--auth-type ${qwenAuth[way.dialect]} -m ${way.model} --yolo --output-format json -p`),
      task,
    ],
    env: {
      OPENAI_API_KEY: key,
      OPENAI_BASE_URL: `${origin}/v1`,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_BASE_URL: origin,
      GEMINI_API_KEY: key,
      GOOGLE_GEMINI_BASE_URL: origin,
    },
    files: {
      [`${home}/.qwen/settings.json`]: json({
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        mcpServers: { words: { ...words, trust: true } },
      }),
    },
  }),
}

const clineProviders: Readonly<Record<ClientDialect, string>> = {
  chat: 'openai-compatible',
  messages: 'anthropic',
  responses: 'openai-native',
  gemini: 'gemini',
}

const cline: Program = {
  name: 'cline',
  package: 'cline',
  file: 'node_modules/cline/bin/cline',
  ways: [
    { dialect: 'chat', model: 'gpt-5.5' },
    { dialect: 'messages', model: 'claude-sonnet-4-5' },
    { dialect: 'responses', model: 'gpt-5.5' },
    // With older ones its SDK sends Google's search alone, and none of the client's tools (@ai-sdk/google, 2026-11).
    { dialect: 'gemini', model: 'gemini-3.1-pro-preview' },
  ],
  proof: all,
  start({ installed, home, origin, key, way, task, words }) {
    const provider = clineProviders[way.dialect]
    const baseUrl = `${origin}/${way.dialect === 'gemini' ? 'v1beta' : 'v1'}`
    const settings = { provider, apiKey: key, model: way.model, baseUrl }
    const data = `${home}/.cline/data/settings`
    return {
      command: [node, `${installed}/${cline.file}`, '--json', '-P', provider, '-m', way.model, task],
      env: { CLINE_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' },
      files: {
        [`${data}/providers.json`]: json({
          version: 1,
          lastUsedProvider: provider,
          modes: {},
          providers: { [provider]: { settings, updatedAt: '2026-11-25T00:00:00.000Z', tokenSource: 'manual' } },
        }),
        [`${data}/cline_mcp_settings.json`]: json({ mcpServers: { words } }),
      },
    }
  },
}

const aiderModels: Readonly<Record<ClientDialect, string>> = {
  chat: 'openai',
  messages: 'anthropic',
  gemini: 'gemini',
  responses: '',
}

const aider: Program = {
  name: 'aider',
  package: 'aider-chat',
  file: 'aider/__main__.py',
  ways: [
    { dialect: 'chat', model: 'gpt-5' },
    { dialect: 'messages', model: 'claude-sonnet-4-5' },
    { dialect: 'gemini', model: 'gemini-2.5-pro' },
  ],
  proof: { writesFile: true, callsServer: false, says: [] },
  start: ({ installed, origin, key, way, task }) => ({
    command: [
      python,
      ...flags(`-m aider --model ${aiderModels[way.dialect]}/${way.model} --edit-format whole`),
      ...flags('--yes-always --no-git --no-check-update --analytics-disable --no-show-model-warnings'),
      ...flags('--no-show-release-notes --no-pretty hello.txt --message'),
      task,
    ],
    env: {
      PYTHONPATH: installed,
      OPENAI_API_KEY: key,
      OPENAI_API_BASE: `${origin}/v1`,
      ANTHROPIC_API_KEY: key,
      ANTHROPIC_API_BASE: origin,
      GEMINI_API_KEY: key,
      GEMINI_API_BASE: `${origin}/v1beta`,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  }),
}

export const programs: readonly Program[] = [claudeCode, codex, openCode, geminiCli, qwenCode, cline, aider]
