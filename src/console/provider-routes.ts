/** Providers: the connections to vendors. Their secrets are write-only. */
import { z } from 'zod'
import { keyView } from '../admin/provider-key-operations.ts'
import { providerView } from '../admin/provider-operations.ts'
import type { Provider } from '../domain/catalog.ts'
import { steadyNowMs } from '../lib/primitives/steady-clock.ts'
import { imageFamilyNames } from '../vendors/image-families.ts'
import { videoFamilyNames } from '../vendors/video-families.ts'
import { offersOfProvider, restingOffers } from '../router/health.ts'
import { presets } from '../vendors/presets.ts'
import type { ConsoleContext } from './context.ts'
import { sayConsoleRefusal } from './refusals.ts'
import { answer, json, missing, problem, route, type Problem, type ConsoleRoute } from './route.ts'
import { finder, isoTime, listShapeOf, origin, pageIn, pageQuery, searchText, time } from './shapes.ts'

const providerShape = z
  .strictObject({
    id: z.string(),
    preset: z.string(),
    base_url: z.string(),
    allow_private: z.boolean(),
    concurrent_requests: z.int().nullable().meta({ description: 'the most requests in flight; null: the usual limit' }),
    has_key: z.boolean().meta({ description: 'the key itself is never shown' }),
    keys: z
      .array(
        z.strictObject({
          id: z.string().meta({ description: 'a fingerprint' }),
          concurrent_requests: z.int().nullable(),
          in_flight: z.int(),
          rests_until: time.nullable(),
          reason: z.string().nullable(),
        }),
      )
      .meta({ description: 'of a provider that has several' }),
    proxy: z.string().nullable().meta({ description: 'without its password; direct; null: as the environment says' }),
    headers: z.array(z.string()).meta({ description: 'names of headers of every request; values are never shown' }),
    query: z.array(z.string()).meta({ description: 'names of parameters of every request' }),
    has_ca: z.boolean().meta({ description: 'whether it has certificate authorities of its own' }),
    origin,
    state: z.enum(['serving', 'drained']),
    offers: z.int(),
    resting_offers: z.int().meta({ description: 'offers that rest after failures' }),
    last_test: z
      .strictObject({ ok: z.boolean(), status: z.int().nullable(), problem: z.string().nullable(), at: time })
      .nullable()
      .meta({ description: 'since the start of this process and the last change of the connection; null: none' }),
    since_start: z.strictObject({
      succeeded: z.int(),
      failed: z.int(),
      last_failure: z
        .strictObject({ result: z.string(), status: z.int().nullable(), message: z.string(), at: time })
        .nullable(),
    }),
  })
  .meta({ id: 'Provider' })

function shownOf({ services }: ConsoleContext, provider: Provider): z.infer<typeof providerShape> {
  const { succeeded, failed, lastFailure, lastTest } = services.tally.of(provider.id)
  return {
    ...providerView(provider),
    keys: (provider.keys ?? []).map((keyed) => keyView(services, keyed)),
    offers: offersOfProvider(services.catalog, provider.id).length,
    resting_offers: restingOffers(services.catalog, { health: services.health(), nowMs: steadyNowMs() }, provider.id),
    last_test: lastTest
      ? {
          ok: lastTest.ok,
          status: lastTest.status ?? null,
          problem: lastTest.problem ?? null,
          at: isoTime(lastTest.atMs),
        }
      : null,
    since_start: {
      succeeded,
      failed,
      last_failure: lastFailure
        ? {
            result: lastFailure.result,
            status: lastFailure.status ?? null,
            message: lastFailure.message,
            at: isoTime(lastFailure.atMs),
          }
        : null,
    },
  }
}

const show = (context: ConsoleContext, id: string): unknown => {
  const provider = context.services.catalog.provider(id)
  return provider && shownOf(context, provider)
}

const settings = {
  preset: z.string().optional(),
  base_url: z.string().min(1).nullable().optional().meta({ description: 'null: the preset’s own' }),
  allow_private: z.boolean().optional().meta({ description: 'whether it may be at a private address' }),
  concurrent_requests: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'the most requests in flight there at once; null: the usual limit' }),
  key: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'left out: the stored key stays if nobody else can read it where it is sent; null: no key' }),
  proxy: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'http://, socks5:// or socks5h://; direct: none; null: as the environment says' }),
  headers: z
    .record(z.string(), z.string())
    .nullable()
    .optional()
    .meta({ description: 'headers of every request; they replace those before' }),
  query: z
    .record(z.string(), z.string())
    .nullable()
    .optional()
    .meta({ description: 'parameters of every request; they replace those before' }),
  organization: z.string().min(1).nullable().optional().meta({ description: 'the header OpenAI-Organization' }),
  project: z.string().min(1).nullable().optional().meta({ description: 'the header OpenAI-Project' }),
  ca: z
    .string()
    .min(1)
    .nullable()
    .optional()
    .meta({ description: 'certificate authorities in PEM, trusted beside the system’s' }),
}

export const providerRoutes: readonly ConsoleRoute[] = [
  route('GET', '/providers', {
    access: 'operator',
    summary: 'List providers, with their results since the start.',
    query: z.strictObject({
      ...pageQuery,
      q: searchText.meta({ description: 'part of the id, the preset or the address' }),
    }),
    answer: listShapeOf(providerShape),
    run: ({ context, query }) => {
      const isFound = finder(query.q)
      const fitting = context.services.catalog
        .providers()
        .filter(({ id, preset, baseUrl }) => isFound([id, preset, baseUrl]))
      return json(pageIn(fitting, query, (each) => shownOf(context, each), { order: 'named' }))
    },
  }),
  route('POST', '/providers', {
    access: 'operator',
    summary: 'Create a provider.',
    body: z.strictObject({ id: z.string(), ...settings }),
    answer: providerShape,
    run: async ({ context, operate, body }) => {
      if (context.services.catalog.provider(body.id)) return taken(body.id)
      return answer(await operate('provider.add', body), () => show(context, body.id))
    },
  }),
  route('GET', '/providers/{provider}', {
    access: 'operator',
    summary: 'Get one provider.',
    answer: providerShape,
    run: ({ context, params }) => {
      const provider = context.services.catalog.provider(params.provider)
      return provider ? json(shownOf(context, provider)) : missing('provider')
    },
  }),
  route('PATCH', '/providers/{provider}', {
    access: 'operator',
    summary:
      'Change a stored provider. What is left out stays. Where others could read them, secrets are needed again.',
    body: z.strictObject(settings),
    answer: providerShape,
    run: async ({ context, operate, params, body }) => {
      if (!context.services.catalog.provider(params.provider)) return missing('provider')
      return answer(await operate('provider.add', { id: params.provider, ...body }), () =>
        show(context, params.provider),
      )
    },
  }),
  route('POST', '/providers/{provider}/keys', {
    access: 'operator',
    summary: 'Add a key to a stored provider. Its keys are used in turn.',
    body: z.strictObject({
      key: z.string().min(1),
      concurrent_requests: z.int().min(1).optional().meta({ description: 'the most requests in flight with it' }),
    }),
    answer: providerShape,
    run: async ({ context, operate, params: { provider: id }, body }) => {
      if (!context.services.catalog.provider(id)) return missing('provider')
      return answer(await operate('provider.key.add', { id, ...body }), () => show(context, id))
    },
  }),
  route('DELETE', '/providers/{provider}/keys/{key}', {
    access: 'operator',
    summary: 'Remove one of several keys of a stored provider. Requests in flight with it go on.',
    answer: providerShape,
    run: async ({ context, operate, params: { provider: id, key: keyId } }) => {
      const provider = context.services.catalog.provider(id)
      if (!provider) return missing('provider')
      if (!provider.keys?.some(({ key }) => key.id === keyId)) return missing('key')
      return answer(await operate('provider.key.remove', { id, key_id: keyId }), () => show(context, id))
    },
  }),
  route('PUT', '/providers/{provider}/state', {
    access: 'operator',
    summary: 'Drain a provider, or let it serve again. Running requests go on.',
    body: z.strictObject({ state: z.enum(['serving', 'drained']) }),
    answer: providerShape,
    run: async ({ context, operate, params: { provider: id }, body: { state } }) => {
      if (!context.services.catalog.provider(id)) return missing('provider')
      return answer(await operate('provider.state', { id, state }), () => show(context, id))
    },
  }),
  route('POST', '/providers/{provider}/resume', {
    access: 'operator',
    summary:
      'Let offers that rest after failures take requests again at once. A passed test or a new key does the same.',
    answer: z.strictObject({
      id: z.string(),
      resumed: z.int().meta({ description: 'the number of offers that rested' }),
    }),
    run: async ({ context, operate, params: { provider: id } }) => {
      if (!context.services.catalog.provider(id)) return missing('provider')
      return answer(await operate('provider.resume', { id }), (value) => value)
    },
  }),
  route('POST', '/providers/{provider}/test', {
    access: 'operator',
    summary: 'Test a provider with a real call that costs nothing: its list of models.',
    answer: z
      .strictObject({
        id: z.string(),
        ok: z.boolean(),
        status: z.int().nullable(),
        took_ms: z.int(),
        models: z.array(z.string()),
        problem: z.string().nullable(),
      })
      .meta({ id: 'ProviderTest' }),
    run: async ({ operate, params }) =>
      answer(await operate('provider.test', { id: params.provider }), (value) => value),
  }),
  route('DELETE', '/providers/{provider}', {
    access: 'operator',
    summary: 'Remove a stored provider, its key and its offers.',
    answer: z.strictObject({ id: z.string(), removed: z.boolean() }),
    run: async ({ context, operate, params: { provider: id } }) => {
      if (!context.services.catalog.provider(id)) return missing('provider')
      return answer(await operate('provider.remove', { id }), (value) => value)
    },
  }),
  route('GET', '/presets', {
    access: 'operator',
    summary: 'List the known vendors, and the model families with known capabilities.',
    answer: z.strictObject({
      image_families: z.array(z.string()),
      video_families: z.array(z.string()),
      data: z.array(
        z
          .strictObject({
            id: z.string(),
            label: z.string(),
            base_url: z.string().nullable(),
            key_variable: z.string().nullable(),
          })
          .meta({ id: 'Preset' }),
      ),
    }),
    run: () =>
      json({
        image_families: imageFamilyNames,
        video_families: videoFamilyNames,
        data: presets.map(({ id, label, baseUrl, keyVariable }) => ({
          id,
          label,
          base_url: baseUrl ?? null,
          key_variable: keyVariable ?? null,
        })),
      }),
  }),
]

const taken = (id: string): Problem => problem(409, 'conflict', sayConsoleRefusal('provider_taken', { name: id }))
