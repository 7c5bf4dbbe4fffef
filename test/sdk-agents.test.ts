/**
 * The coding agents themselves, each with one task in a throwaway folder: they write a file through the tools they
 * offer, while the sandbox plays a written scenario behind the gateway, in a dialect that need not be the agent's.
 */
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAgent } from './sdk/agent-package.ts'
import { setVendorsStage, vendors } from './sdk/vendors-stage.ts'

const place = `${process.platform}-${process.arch}`
/** Read with a person's eyes what they send before another version is pinned. */
const claude = findAgent({
  name: '@anthropic-ai/claude-code',
  version: '2.1.324',
  program: `@anthropic-ai/claude-code-${place}/claude`,
})
const codex = findAgent({ name: '@openai/codex', version: '0.166.0', program: '@openai/codex/bin/codex.js' })
for (const [name, agent] of Object.entries({ 'Claude Code': claude, 'Codex CLI': codex })) {
  if (agent.kind === 'missing') console.warn(`SKIPPED: ${name} is not tested, ${agent.reason}.`)
}
const node = Bun.which('node')
if (!node) console.warn('SKIPPED: Codex CLI is not tested, there is no node on the PATH.')

const TASK_TIMEOUT_MS = 60_000
const { gateway, ...till } = setVendorsStage()
const folders: string[] = []

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function throwaway(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
  folders.push(folder)
  return folder
}

type Run = { readonly command: readonly string[]; readonly cwd: string; readonly env: Record<string, string> }

/** Runs an agent to its end, in an environment of its own: nothing of the machine's settings, a home that is empty. */
async function run({ command, cwd, env }: Run): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: TASK_TIMEOUT_MS,
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${out}\n${err}`.slice(-3_000))
  return out
}

const scenario = (...lines: string[]): string => ['Play this scenario:', ...lines].join('\n')

describe.skipIf(claude.kind === 'missing').each(vendors)('Claude Code before a vendor that is %s', (model) => {
  test(
    'writes a file and reads it back',
    async () => {
      const me = await till.join()
      const [cwd, home] = [throwaway(), throwaway()]
      const file = join(cwd, 'hello.txt')
      const task = scenario(
        `call Write ${JSON.stringify({ file_path: file, content: 'Grüße, 世界' })}`,
        `call Bash ${JSON.stringify({ command: 'cat hello.txt', description: 'Shows it' })}`,
        'say All done.',
      )
      const program = claude.kind === 'found' ? claude.program : ''
      const options = ['--model', model, '--output-format', 'json', '--max-turns', '6']
      const out = await run({
        command: [program, '-p', task, ...options, '--allowedTools', 'Write,Bash(cat hello.txt)'],
        cwd,
        env: {
          HOME: home,
          ANTHROPIC_BASE_URL: new URL(gateway().baseUrl).origin,
          ANTHROPIC_API_KEY: me.key,
          ANTHROPIC_SMALL_FAST_MODEL: model,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_AUTOUPDATER: '1',
        },
      })
      expect(JSON.parse(out)).toMatchObject({ subtype: 'success', is_error: false, num_turns: 3, result: 'All done.' })
      expect(readFileSync(file, 'utf8')).toBe('Grüße, 世界')
      const records = await till.recordsOf(me, 3)
      expect(records.map(({ outcome, usage_source }) => `${outcome} ${usage_source}`)).toEqual(
        Array.from({ length: 3 }, () => 'completed reported'),
      )
      await till.expectBalance(me, records)
    },
    TASK_TIMEOUT_MS + 10_000,
  )
})

describe.skipIf(codex.kind === 'missing' || !node).each(vendors)('Codex CLI before a vendor that is %s', (model) => {
  test(
    'writes a file by a command',
    async () => {
      const me = await till.join()
      const [cwd, home] = [throwaway(), throwaway()]
      const settings = [
        `model = "${model}"`,
        'model_provider = "tollgate"',
        '[model_providers.tollgate]',
        'name = "Tollgate"',
        `base_url = "${gateway().baseUrl}"`,
        'env_key = "TOLLGATE_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
      ]
      await Bun.write(join(home, 'config.toml'), settings.join('\n'))
      const task = scenario(
        `call exec_command ${JSON.stringify({ cmd: "printf 'Grüße, 世界' > hello.txt && cat hello.txt" })}`,
        'say All done.',
      )
      const program = codex.kind === 'found' ? codex.program : ''
      const options = ['--skip-git-repo-check', '--json', '--dangerously-bypass-approvals-and-sandbox']
      const out = await run({
        command: [node ?? '', program, 'exec', ...options, task],
        cwd,
        env: { HOME: home, CODEX_HOME: home, TOLLGATE_KEY: me.key },
      })
      expect(out).toContain('"type":"turn.completed"')
      expect(out).toContain('All done.')
      expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('Grüße, 世界')
      const records = await till.recordsOf(me, 2)
      expect(records.map(({ outcome }) => outcome)).toEqual(['completed', 'completed'])
      await till.expectBalance(me, records)
    },
    TASK_TIMEOUT_MS + 10_000,
  )
})
