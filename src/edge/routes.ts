/** All routes of the public API, and those of operators beside it. A path with a parameter stands in no other's way. */
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
        'The models that this key may use, in the words of OpenAI; with `anthropic-version` or `x-api-key` in those of ' +
        'Anthropic, by pages (`limit`, `after_id`, `before_id`); with `x-goog-api-key` in those of Gemini.',
      answer: 'ModelList',
    },
  },
  {
    ...fromMemory,
    path: '/v1/models/{model}',
    handler: showModel,
    documentation: {
      tag: 'Account',
      summary: 'One model, in the same words.',
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
      summary: 'The same in the dialect of Gemini (`pageSize`, `pageToken`).',
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
      summary: 'One model in the dialect of Gemini.',
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
      summary: 'What the account has, and how key and account stand with their limits. Works at zero.',
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
    documentation: { tag: 'Operation', summary: 'The process lives.', answer: 'text' },
  },
  {
    ...fromMemory,
    path: '/readyz',
    isMonitored: true,
    handler: showReady,
    documentation: { tag: 'Operation', summary: 'The gateway takes requests.', answer: 'text' },
  },
  {
    ...fromMemory,
    path: '/metrics',
    isMonitored: true,
    handler: showMetrics,
    documentation: { tag: 'Operation', summary: 'Figures in the format of Prometheus.', answer: 'text' },
  },
]

export const publicRoutes: readonly PublicRoute[] = [...textRoutes, ...mediaRoutes, ...accountRoutes, ...operatorRoutes]
