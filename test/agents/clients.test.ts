/**
 * Coding agents and Python frameworks work on one task each in a temporary folder, against strict vendors and with
 * model names that they know. They are not dependencies: a program that is not installed is skipped. `npm run clients`
 * installs them and runs each against every vendor. This test runs each once, against one vendor.
 */
import { appendFileSync } from 'node:fs'
import { describe, expect, test } from 'bun:test'
import { findInstalled, versionOf } from './installed.ts'
import { programs, type Program, type Way } from './programs.ts'
import { pythonSdks } from './python-sdks.ts'
import { attempt } from './task.ts'
import { strictVendors } from './vendors.ts'
import type { Profile } from '../vendors/fake.ts'

/** A file that gets a line of JSON for each run. With it all are made. */
const REPORT = process.env['TOLLGATE_CLIENTS_REPORT']
const ONLY = new RegExp(process.env['TOLLGATE_CLIENTS_ONLY'] ?? '')
const PACKAGES = process.env['TOLLGATE_CLIENTS_PACKAGES']?.split(' ')
const TEST_TIMEOUT_MS = 200_000

type Run = { readonly vendor: string; readonly profile: Profile; readonly way: Way }

function runsOf(program: Program, index: number): readonly Run[] {
  const all = program.ways.flatMap((way) => strictVendors.map(({ name, profile }) => ({ vendor: name, profile, way })))
  if (REPORT !== undefined) return all.filter(({ vendor, way }) => ONLY.test(`${program.name} ${way.model} ${vendor}`))
  // The nth program before the nth vendor: not all before the same.
  const own = strictVendors[index % strictVendors.length]?.name
  return all.filter(({ vendor, way }) => vendor === own && way === program.ways[0])
}

for (const [index, program] of [...programs, ...pythonSdks].entries()) {
  if (PACKAGES?.includes(program.package) === false) continue
  const found = findInstalled(program)
  if ('reason' in found) console.warn(`SKIPPED: ${program.name} is not tried, ${found.reason}.`)

  describe.skipIf('reason' in found).each([...runsOf(program, index)])(
    `${program.name} with $way.model ($way.dialect) before $vendor`,
    ({ vendor, profile, way }) => {
      test(
        'does its task with the tools it is given, and pays for what was answered',
        async () => {
          const installed = 'folder' in found ? found.folder : ''
          const problems = await attempt({ program, installed, way, profile })
          if (REPORT !== undefined) {
            const line = { program: program.name, version: versionOf(program), ...way, vendor, problems }
            appendFileSync(REPORT, `${JSON.stringify(line)}\n`)
          }
          expect(problems).toEqual([])
        },
        TEST_TIMEOUT_MS,
      )
    },
  )
}
