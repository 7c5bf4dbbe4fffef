/** All routes of the public API and of operators. A path with a parameter never hides another path. */
import { showBalance } from './balance.ts'
import { noBody } from './request-body.ts'
import { listModels, showModel } from './models.ts'
import { showAlive, showMetrics, showReady } from './monitoring.ts'
import type { PublicRoute } from './route.ts'
import { mediaRoutes } from './routes/media.ts'
import { textRoutes } from './routes/text.ts'

const fromMemory = { method: 'GET', reads: noBody, limits: 'none' } as const

const accountRoutes: readonly PublicRoute[] = [
  {
    ...fromMemory,
    path: '/v1/models',
    handler: listModels,
    documentation: {
      tag: 'Account',
      summary:
        'List the models that the key may use, in OpenAI’s format. With `anthropic-version` or `x-api-key` the format is ' +
        'Anthropic’s, in pages (`limit`, `after_id`, `before_id`). With `x-goog-api-key` it is Gemini’s.',
      answer: 'ModelList',
    },
  },
  {
    ...fromMemory,
    path: '/v1/models/{model}',
    handler: showModel,
    documentation: {
      tag: 'Account',
      summary: 'Get a model, in the same formats.',
      answer: 'Model',
      failures: ['model_not_found', 'model_not_allowed'],
    },
  },
  {
    ...fromMemory,
    path: '/v1beta/models',
    aliases: ['/v1alpha/models'],
    handler: listModels,
    documentation: {
      tag: 'Account',
      summary: 'List the models that the key may use, in Gemini’s format (`pageSize`, `pageToken`).',
      answer: 'GeminiModelList',
    },
  },
  {
    ...fromMemory,
    path: '/v1beta/models/{model}',
    aliases: ['/v1alpha/models/{model}'],
    handler: showModel,
    documentation: {
      tag: 'Account',
      summary: 'Get a model in Gemini’s format.',
      answer: 'GeminiModel',
      failures: ['model_not_found', 'model_not_allowed'],
    },
  },
  {
    ...fromMemory,
    path: '/v1/balance',
    handler: showBalance,
    documentation: {
      tag: 'Account',
      summary:
        'Get the balance of the account and the limits of the key and the account. It works at a balance of zero.',
      answer: 'Balance',
    },
  },
]

const operatorRoutes: readonly PublicRoute[] = [
  {
    ...fromMemory,
    path: '/healthz',
    aliases: ['/health'],
    isMonitored: true,
    handler: showAlive,
    documentation: { tag: 'Operation', summary: 'Check that the process is alive.', answer: 'text' },
  },
  {
    ...fromMemory,
    path: '/readyz',
    isMonitored: true,
    handler: showReady,
    documentation: { tag: 'Operation', summary: 'Check that the gateway accepts requests.', answer: 'text' },
  },
  {
    ...fromMemory,
    path: '/metrics',
    isMonitored: true,
    handler: showMetrics,
    documentation: { tag: 'Operation', summary: 'Get metrics in the Prometheus format.', answer: 'text' },
  },
]

export const publicRoutes: readonly PublicRoute[] = [...textRoutes, ...mediaRoutes, ...accountRoutes, ...operatorRoutes]
