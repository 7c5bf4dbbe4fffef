/** deploy/compose.cluster.yaml and the Helm chart: they parse, and set only what the program reads. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const documented = read('docs/operations.md')
const CHART = 'deploy/helm'

/** Helm's own program, where there is one: it is not a package of npm. */
const helm = process.env['TOLLGATE_TEST_HELM'] ?? Bun.which('helm') ?? undefined
if (helm === undefined) {
  console.warn('Helm is not here, so the chart is neither linted nor rendered. Put helm in PATH or TOLLGATE_TEST_HELM.')
}

type Service = {
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: object
  readonly stop_grace_period?: string
  readonly image?: string
}

describe('compose.cluster.yaml', () => {
  const text = read('deploy/compose.cluster.yaml')
  const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, Service>> }

  test('has three instances, a primary, a standby, a balancer and a store of files', () => {
    expect(Object.keys(services).toSorted()).toEqual([
      'caddy',
      'migration',
      'postgres',
      's3',
      'standby',
      'tollgate-1',
      'tollgate-2',
      'tollgate-3',
    ])
    for (const name of ['tollgate-1', 'tollgate-2', 'tollgate-3']) {
      expect(services[name]?.depends_on).toHaveProperty('migration')
      expect(read('deploy/Caddyfile.cluster')).toContain(`${name}:8080`)
    }
    expect(text).toContain('synchronous_standby_names=standby')
  })

  test('names variables that the program reads, files that are there, and secrets that the example asks for', () => {
    const names = [...text.matchAll(/^ {4}(TOLLGATE_\w+):/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
    const files = [...text.matchAll(/'?\.\/([\w.-]+):\//g)].map(([, file = '']) => file)
    expect(files).toHaveLength(3)
    expect(files.filter((file) => !existsSync(join(ROOT, 'deploy', file)))).toEqual([])
    const example = read('deploy/cluster.env.example')
    for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(example).toContain(`\n${name}=\n`)
    expect(example).toContain('\nTOLLGATE_KEY_PEPPER=\nTOLLGATE_MASTER_KEY=\n')
    expect(read('.gitignore')).toContain('deploy/*.env')
  })
})

describe('the Helm chart', () => {
  const { version, appVersion } = parse(read(`${CHART}/Chart.yaml`)) as { version: string; appVersion: string }
  const values = parse(read(`${CHART}/values.yaml`)) as Readonly<Record<string, number>>

  test('has the version of the program, and waits as long as a pod needs to stop', () => {
    const own = (JSON.parse(read('package.json')) as { version: string }).version
    expect({ version, appVersion }).toEqual({ version: own, appVersion: own })
    const { terminationGracePeriodSeconds = 0, lameDuckMs = 0, drainMs = 0 } = values
    expect(terminationGracePeriodSeconds).toBeGreaterThan((lameDuckMs + drainMs) / 1000 + 14)
  })

  test('names variables that the program reads', () => {
    const texts = ['_helpers.tpl', 'deployment.yaml', 'migration.yaml'].map((name) =>
      read(`${CHART}/templates/${name}`),
    )
    const names = [...`${texts.join('\n')}${read(`${CHART}/values.yaml`)}`.matchAll(/\bTOLLGATE_[A-Z0-9_]+/g)]
    expect(names.length).toBeGreaterThan(8)
    expect(names.map(([name]) => name).filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
  })

  const run = async (...args: string[]): Promise<{ readonly code: number; readonly out: string }> => {
    const child = Bun.spawn([helm as string, ...args], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { code, out: out + err }
  }
  /** Helm assumes the version of its own libraries, which may be an old one. */
  const KUBE = ['--kube-version', '1.31.0']
  const GIVEN = ['--set', 'image.repository=r.example/tollgate', '--set', 'image.tag=1', '--set', 'existingSecret=s']

  test.skipIf(helm === undefined)('lints and renders: surge 1, unavailable 0, a job first, secrets given', async () => {
    expect(await run('lint', '--strict', CHART, ...KUBE, ...GIVEN)).toMatchObject({ code: 0 })
    const more = [
      '--set',
      'declaration=accounts: {}',
      '--set',
      'ingress.enabled=true',
      '--set',
      'ingress.host=a.example',
    ]
    const { code, out } = await run('template', 'main', CHART, ...KUBE, ...GIVEN, ...more)
    expect({ code, out }).toMatchObject({ code: 0 })
    const objects = out
      .split(/^---$/m)
      .map((part) => parse(part) as { kind?: string; spec?: object; metadata?: object } | null)
      .filter((one) => one !== null)
    const kinds = objects.flatMap(({ kind }) => kind ?? []).toSorted()
    expect(kinds).toEqual([
      'ConfigMap',
      'ConfigMap',
      'Deployment',
      'Ingress',
      'Job',
      'PodDisruptionBudget',
      'Service',
      'Service',
    ])
    expect(objects.find(({ kind }) => kind === 'Deployment')?.spec).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: { spec: { containers: [{ envFrom: [{ secretRef: { name: 's' } }], args: ['serve'] }] } },
    })
    expect(objects.find(({ kind }) => kind === 'Job')).toMatchObject({
      metadata: { annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } },
      spec: {
        template: { spec: { initContainers: [{ args: ['db', 'migrate'] }], containers: [{ args: ['apply'] }] } },
      },
    })
  })

  test.skipIf(helm === undefined)('says what is missing', async () => {
    expect(await run('template', CHART, ...KUBE)).toMatchObject({
      code: 1,
      out: expect.stringContaining('is required'),
    })
    const short = await run('template', CHART, ...KUBE, ...GIVEN, '--set', 'terminationGracePeriodSeconds=60')
    expect(short).toMatchObject({ code: 1, out: expect.stringContaining('terminationGracePeriodSeconds is too short') })
  })
})
