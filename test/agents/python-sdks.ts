/** Python SDKs and frameworks with tool loops of their own, run as programs. See run.py for their code. */
import { join } from 'node:path'
import type { ClientDialect } from '../../src/domain/turn.ts'
import { WORD } from './mind.ts'
import type { Program } from './programs.ts'

const python = Bun.which('python3') ?? 'python3'

type Row = readonly [name: string, of: string, file: string, dialect: ClientDialect, model: string]

const pydantic = ['pydantic-ai-slim[openai,anthropic]', 'pydantic_ai/__init__.py'] as const
const agents = ['openai-agents', 'agents/__init__.py'] as const

const rows: readonly Row[] = [
  ['pydantic-ai, chat', ...pydantic, 'chat', 'gpt-5'],
  ['pydantic-ai, responses', ...pydantic, 'responses', 'gpt-5.5'],
  ['pydantic-ai, messages', ...pydantic, 'messages', 'claude-sonnet-4-5'],
  ['openai-agents, responses', ...agents, 'responses', 'gpt-5.1'],
  ['openai-agents, chat', ...agents, 'chat', 'gpt-4.1'],
  ['instructor', 'instructor', 'instructor/__init__.py', 'chat', 'gpt-4o'],
  ['google-genai', 'google-genai', 'google/genai/__init__.py', 'gemini', 'gemini-2.5-pro'],
  ['LlamaIndex', 'llama-index-llms-openai-like', 'llama_index/core/__init__.py', 'chat', 'deepseek-v4-pro'],
]

export const pythonSdks: readonly Program[] = rows.map(([name, of, file, dialect, model]) => ({
  name,
  package: of,
  file,
  ways: [{ dialect, model }],
  // Structured output: an integer and a text, as the vendor's mind fills them in.
  proof: { writesFile: false, callsServer: false, says: [name === 'instructor' ? '1: Does what' : WORD] },
  start: ({ installed, origin, key, way }) => ({
    command: [python, join(import.meta.dir, 'python/run.py'), name],
    env: { PYTHONPATH: installed, PYTHONDONTWRITEBYTECODE: '1', ORIGIN: origin, KEY: key, MODEL: way.model },
  }),
}))
