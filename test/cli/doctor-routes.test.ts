/** `tollgate doctor` lists the public routes from the table that serves them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathsOf } from '../../src/edge/router.ts'
import { publicRoutes } from '../../src/edge/routes.ts'
import { runCommand, runJson } from '../support/command.ts'
import { freshFolder } from '../support/gateway.ts'

type Report = {
  readonly limits: Readonly<Record<string, number>>
  readonly fixed_limits: Readonly<Record<string, number>>
  readonly public_routes: readonly { readonly paths: readonly string[]; readonly limit_names: readonly string[] }[]
}

const folder = freshFolder()
const env = { TOLLGATE_CONFIG: join(folder, 'tollgate.yaml') }
beforeAll(async () => void (await runJson(folder, ['init'], env)))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every route is in the report, with limits that the report has', async () => {
  const report = await runJson<Report>(folder, ['doctor'], env)
  expect(report.public_routes.map(({ paths }) => paths)).toEqual(publicRoutes.map(pathsOf))
  const names = Object.keys({ ...report.limits, ...report.fixed_limits })
  for (const route of report.public_routes) expect(names).toEqual(expect.arrayContaining([...route.limit_names]))
})

test('people see method, path, body and limits', async () => {
  const { out } = await runCommand(folder, ['doctor'], env)
  expect(out).toMatch(/\nPublic routes\nMETHOD .*\nPOST +\/v1\/chat\/completions +json +key_and_account\n/)
})
