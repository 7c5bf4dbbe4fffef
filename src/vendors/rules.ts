/**
 * What vendors and families of models refuse in the formats of chat, responses and embeddings, as data. Each row has
 * its public source and the date on which it was read.
 */
import type { Effort } from '../domain/turn.ts'

/** What a vendor takes of a field, or of something that stands in several fields. */
export type Limit =
  /** The fields are refused. `unless`: they are taken if the effort is `none`, or if the effort is unset, too. */
  | { readonly takes: 'nothing'; readonly fields: readonly string[]; readonly unless?: 'effort_none' | 'effort_unset' }
  | { readonly takes: 'name'; readonly field: string; readonly as: string }
  | { readonly takes: 'number'; readonly field: string; readonly least?: number; readonly most: number }
  | { readonly takes: 'items'; readonly field: string; readonly most: number }
  /** The id of a user can be any text. One that does not fit is sent as its digest. */
  | {
      readonly takes: 'id'
      readonly fields: readonly string[]
      readonly least?: number
      readonly most: number
      readonly form?: RegExp
    }
  /** The nearest of these efforts is sent. */
  | { readonly takes: 'efforts'; readonly efforts: readonly Effort[] }
  /** The role `developer` is sent as `system`. */
  | { readonly takes: 'system_role' }
  /** Ids of tool calls have exactly `chars` letters and digits. */
  | { readonly takes: 'call_ids'; readonly chars: number }
  /** JSON mode is known, and a schema is not: the schema is sent as words of the prompt. */
  | { readonly takes: 'json_object' }
  /** The schema of an answer must be that of an object: any other is sent as words of the prompt. */
  | { readonly takes: 'object_schema' }
  /** In a conversation with tool calls each message of the model must have `reasoning_content`. */
  | { readonly takes: 'thoughts' }
  /** Content that is text alone must be one text, not a list of parts or null. */
  | { readonly takes: 'text_content' }
  /** The system message comes first, and then messages of the user, or results of tools, and of the model alternate. */
  | { readonly takes: 'alternate_roles' }
  /** No message may have the reasoning of its model. */
  | { readonly takes: 'no_thoughts' }
  /** Tools whose input is free text, in the vendor's own formats, are taken. */
  | { readonly takes: 'custom_tools' }
  /** Tools of agents in the responses format beside functions are taken: groups of tools, a search in them, a shell. */
  | { readonly takes: 'agent_items' }
  /** Signatures of calls are taken in `extra_content.google`, as at Google's own endpoint of the chat format. */
  | { readonly takes: 'call_signatures' }
  /** `prompt_cache_key` is taken. Other vendors refuse it as an unknown field. */
  | { readonly takes: 'cache_key' }
  /** Requests with tools, or translated ones, go to the responses format. */
  | { readonly takes: 'elsewhere'; readonly what: 'tools' | 'translated' }

type RuleRow = Limit & {
  /** The presets for which it holds, or does not hold. Left out: it holds for every vendor that serves these models. */
  readonly vendors?: readonly string[]
  readonly notVendors?: readonly string[]
  /** The models for which it holds, by the name after the last slash and after Bedrock's prefixes, in small letters. */
  readonly models?: RegExp
  /** Where it can be read. `read` is the date on which it was. */
  readonly source: string
}
export type Rule = RuleRow & { readonly read: string }

const OPENAI = ['openai', 'azure', 'azure-deployments']
/** Vendors that refuse `reasoning_content` in a message. */
const REFUSES_THOUGHTS = [...OPENAI, 'groq', 'mistral', 'cerebras', 'bedrock']

/** Models of OpenAI that reason. */
const REASONS = /^(?:gpt-(?:[5-9]|\d\d)(?!.*-chat)|o\d|codex)/
/** Models of OpenAI that reason also without an effort in the request. */
const REASONS_UNASKED = /^(?:gpt-5(?!\.[1-5])|gpt-(?:[6-9]|\d\d)|o\d|codex)(?!.*-chat)/
const SAMPLING = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
]
const NEVER_REASONS = /^(?:gpt-[34]|chatgpt|gpt-[5-9][\d.]*-chat)/
/** From gpt-5.4 on the chat format takes tools only with the effort `none`. */
const REASONS_ELSEWHERE = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)/
/** Models that can call tools with free text. */
const WRITES_FREELY = /^gpt-(?:[5-9]|\d\d)(?!.*-chat)/

/** Fields of the format that Mistral does not know. It refuses unknown fields. */
const NOT_MISTRAL =
  'user safety_identifier top_k logprobs top_logprobs logit_bias verbosity store stream_options service_tier ' +
  'modalities audio web_search_options functions function_call prompt_cache_retention prompt_cache_options reasoning ' +
  'thinking repetition_penalty min_p'

/** Fields that no model of NVIDIA's has in its schema. The schemas forbid further fields. */
const NOT_NVIDIA =
  'user safety_identifier metadata store service_tier logit_bias verbosity prediction modalities audio ' +
  'prompt_cache_key prompt_cache_retention prompt_cache_options'

/** Fields that Cohere's compatibility API does not support. `n` is not among them, because it changes the answer. */
const NOT_COHERE =
  'store metadata logit_bias top_logprobs modalities prediction audio service_tier parallel_tool_calls user stream_options'

/** Rows that were read on one day. */
const readOn = (read: string, rows: readonly RuleRow[]): readonly Rule[] => rows.map((row) => ({ ...row, read }))

export const vendorRules: readonly Rule[] = readOn('2026-11-25', [
  // Every vendor: none is known to take more.
  {
    takes: 'id',
    fields: ['user', 'user_id'],
    most: 128,
    source: 'https://github.com/ujisati/claude-code-provider-proxy/issues/11',
  },
  {
    takes: 'id',
    fields: ['safety_identifier', 'prompt_cache_key'],
    most: 64,
    source: 'https://github.com/maximhq/bifrost/issues/1000',
  },

  // OpenAI. The rules of its models hold for every vendor that serves them.
  {
    vendors: OPENAI,
    takes: 'object_schema',
    source: 'https://github.com/podly-pure-podcasts/podly_pure_podcasts/pull/89',
  },
  {
    vendors: OPENAI,
    takes: 'id',
    fields: ['user'],
    most: 64,
    source: 'https://github.com/maximhq/bifrost/issues/1000',
  },
  {
    vendors: OPENAI,
    takes: 'nothing',
    fields: ['top_k'],
    source: 'https://github.com/jimmc414/claude_n_codex_api_proxy/issues/24',
  },
  {
    vendors: OPENAI,
    takes: 'items',
    field: 'stop',
    most: 4,
    source: 'https://platform.openai.com/docs/api-reference/chat/create (stop: up to 4 sequences)',
  },
  {
    models: NEVER_REASONS,
    takes: 'nothing',
    fields: ['reasoning_effort', 'reasoning', 'verbosity'],
    source: 'https://github.com/musistudio/claude-code-router/issues/724',
  },
  {
    models: REASONS_UNASKED,
    takes: 'nothing',
    fields: SAMPLING,
    unless: 'effort_none',
    source: 'https://platform.openai.com/docs/guides/latest-model (parameter compatibility)',
  },
  {
    models: /^gpt-5\.[1-5](?!.*-chat)/,
    takes: 'nothing',
    fields: SAMPLING,
    unless: 'effort_unset',
    source: 'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort',
  },
  {
    models: REASONS,
    takes: 'nothing',
    fields: ['stop'],
    source: 'https://platform.openai.com/docs/api-reference/chat/create (stop: not with reasoning models)',
  },
  {
    models: /^o\d/,
    takes: 'efforts',
    efforts: ['low', 'medium', 'high'],
    source: 'https://docs.rs/openai-tools/3.0.0/openai_tools/responses/request/enum.ReasoningEffort.html',
  },
  {
    models: /^gpt-5(?:-(?!chat|codex)|$)/,
    takes: 'efforts',
    efforts: ['minimal', 'low', 'medium', 'high'],
    source: 'https://platform.openai.com/docs/models/gpt-5',
  },
  {
    models: /^gpt-5-codex|^gpt-5\.1-codex(?!-max)/,
    takes: 'efforts',
    efforts: ['low', 'medium', 'high'],
    source: 'https://platform.openai.com/docs/models/gpt-5-codex',
  },
  {
    models: /^gpt-5\.1(?!-codex)/,
    takes: 'efforts',
    efforts: ['none', 'low', 'medium', 'high'],
    source: 'https://github.com/openai/openai-agents-python/issues/2089',
  },
  {
    models: /^gpt-5\.[2-5]|^gpt-5\.1-codex-max/,
    takes: 'efforts',
    efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    source: 'https://platform.openai.com/docs/models/gpt-5.2',
  },
  {
    vendors: OPENAI,
    models: REASONS_ELSEWHERE,
    takes: 'elsewhere',
    what: 'tools',
    source: 'https://github.com/openai/openai-openapi/issues/541',
  },
  {
    vendors: ['openai'],
    models: REASONS,
    takes: 'elsewhere',
    what: 'translated',
    source:
      'https://platform.openai.com/docs/guides/migrate-to-responses (reasoning between turns is kept there alone)',
  },

  {
    vendors: ['openai'],
    models: WRITES_FREELY,
    takes: 'custom_tools',
    source: 'https://platform.openai.com/docs/guides/function-calling#custom-tools',
  },
  {
    vendors: ['sandbox'],
    takes: 'custom_tools',
    source: 'https://platform.openai.com/docs/guides/function-calling#custom-tools (the sandbox keeps to it)',
  },
  {
    vendors: ['openai'],
    models: REASONS_ELSEWHERE,
    takes: 'agent_items',
    source: 'https://developers.openai.com/api/docs/guides/tools-tool-search',
  },
  {
    vendors: ['openai'],
    takes: 'cache_key',
    source: 'https://platform.openai.com/docs/guides/prompt-caching',
  },
  {
    vendors: ['mistral'],
    takes: 'cache_key',
    source: 'https://docs.mistral.ai/studio/conversations/advanced/prompt-caching',
  },
  {
    vendors: ['moonshot'],
    takes: 'cache_key',
    source: 'https://github.com/MoonshotAI/kimi-code/pull/3660 (its own endpoint keeps the field)',
  },
  {
    vendors: ['groq', 'cerebras'],
    takes: 'nothing',
    fields: ['prompt_cache_key', 'prompt_cache_retention'],
    source: 'https://github.com/zed-industries/zed/issues/36215',
  },

  // Mistral
  {
    vendors: ['mistral'],
    takes: 'name',
    field: 'seed',
    as: 'random_seed',
    source: 'https://docs.mistral.ai/api/endpoint/chat',
  },
  {
    vendors: ['mistral'],
    takes: 'nothing',
    fields: NOT_MISTRAL.split(' '),
    source: 'https://github.com/mistralai/platform-docs-public/issues/7',
  },
  {
    vendors: ['mistral'],
    takes: 'efforts',
    efforts: ['none', 'high'],
    source: 'https://docs.mistral.ai/capabilities/reasoning/adjustable',
  },
  {
    vendors: ['mistral'],
    takes: 'call_ids',
    chars: 9,
    source: 'https://github.com/anomalyco/opencode/issues/1680',
  },
  {
    vendors: ['mistral'],
    takes: 'number',
    field: 'temperature',
    most: 1.5,
    source: 'https://docs.mistral.ai/api/endpoint/chat',
  },

  // DeepSeek
  {
    vendors: ['deepseek'],
    takes: 'id',
    fields: ['user', 'user_id'],
    most: 512,
    form: /^[\w-]+$/,
    source: 'https://github.com/deepseek-ai/DeepSeek-V3/issues/1277',
  },
  {
    vendors: ['deepseek'],
    takes: 'items',
    field: 'stop',
    most: 16,
    source: 'https://api-docs.deepseek.com/api/create-chat-completion',
  },
  {
    vendors: ['deepseek'],
    takes: 'efforts',
    efforts: ['low', 'high', 'max'],
    source: 'https://api-docs.deepseek.com/guides/thinking_mode',
  },
  {
    vendors: ['deepseek'],
    takes: 'json_object',
    source: 'https://api-docs.deepseek.com/api/create-chat-completion (response_format: text or json_object)',
  },

  // Reasoning in messages
  {
    vendors: REFUSES_THOUGHTS,
    takes: 'no_thoughts',
    source:
      'https://github.com/janhq/jan/issues/8136, https://github.com/Kilo-Org/kilocode/issues/10375, ' +
      'https://github.com/aws-samples/bedrock-engineer/pull/240',
  },
  {
    models: /^gemini/,
    takes: 'call_signatures',
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures (OpenAI compatibility)',
  },
  {
    notVendors: REFUSES_THOUGHTS,
    models: /deepseek|^kimi|minimax|^glm-[5-9]|^mimo/,
    takes: 'thoughts',
    source:
      'https://api-docs.deepseek.com/guides/thinking_mode, https://github.com/QuantumNous/new-api/issues/4806, ' +
      'https://github.com/envoyproxy/ai-gateway/issues/2098',
  },

  // Others
  {
    models: /^glm-|^glm$/,
    takes: 'id',
    fields: ['user', 'user_id'],
    least: 6,
    most: 128,
    source: 'https://github.com/looplj/axonhub/issues/1669',
  },
  {
    vendors: ['ark', 'modelark'],
    takes: 'id',
    fields: ['user', 'user_id'],
    least: 6,
    most: 128,
    source: 'https://github.com/looplj/axonhub/issues/1669',
  },
  {
    vendors: ['groq'],
    takes: 'nothing',
    fields: ['logprobs', 'top_logprobs', 'logit_bias', 'top_k'],
    source: 'https://console.groq.com/docs/openai (unsupported fields)',
  },
  {
    vendors: ['cerebras'],
    takes: 'nothing',
    fields: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'top_k'],
    source: 'https://inference-docs.cerebras.ai/resources/openai (unsupported fields)',
  },
  {
    vendors: ['xai'],
    models: /^grok-[34](?!.*non-reasoning)/,
    takes: 'nothing',
    fields: ['presence_penalty', 'frequency_penalty', 'stop', 'top_k'],
    source: 'https://docs.x.ai/docs/guides/reasoning',
  },
  {
    vendors: ['xai'],
    models: /^grok-4(?!.*mini)/,
    takes: 'nothing',
    fields: ['reasoning_effort'],
    source: 'https://docs.x.ai/docs/guides/reasoning',
  },
  {
    vendors: ['moonshot'],
    takes: 'number',
    field: 'temperature',
    most: 1,
    source: 'https://platform.moonshot.ai/docs/api/chat',
  },
  {
    notVendors: OPENAI,
    takes: 'system_role',
    source: 'https://github.com/earendil-works/pi/issues/1048, https://github.com/diegosouzapw/OmniRoute/issues/2281',
  },

  // Z.ai and Zhipu
  {
    vendors: ['zai', 'zhipu'],
    takes: 'items',
    field: 'stop',
    most: 1,
    source: 'https://docs.spring.io/spring-ai/reference/api/chat/zhipuai-chat.html (stop: a single stop word)',
  },
  {
    vendors: ['zai', 'zhipu'],
    takes: 'number',
    field: 'temperature',
    most: 1,
    source: 'https://docs.spring.io/spring-ai/reference/api/chat/zhipuai-chat.html (temperature: between 0 and 1)',
  },
  {
    vendors: ['zai', 'zhipu'],
    takes: 'json_object',
    source: 'https://github.com/BerriAI/litellm/pull/37797, https://github.com/browserbase/stagehand/pull/1706',
  },

  // MiniMax
  {
    vendors: ['minimax'],
    takes: 'number',
    field: 'temperature',
    least: 0.01,
    most: 1,
    source: 'https://www.promptfoo.dev/docs/providers/minimax/ (temperature: above 0, at most 1)',
  },

  // Tencent Hunyuan. This row comes after the one that makes system messages of those of developers.
  {
    vendors: ['hunyuan'],
    takes: 'alternate_roles',
    source:
      'https://cloud.tencent.com/document/api/1729/101836, https://github.com/FoundationAgents/OpenManus/issues/894',
  },

  // SiliconFlow
  {
    vendors: ['siliconflow'],
    takes: 'items',
    field: 'stop',
    most: 4,
    source: 'https://docs.siliconflow.cn/api-reference (stop: up to 4 sequences)',
  },

  // StepFun
  {
    vendors: ['stepfun'],
    models: /^step-3(?!\.5)/,
    takes: 'efforts',
    efforts: ['low', 'medium', 'high'],
    source: 'https://platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create',
  },
  {
    vendors: ['stepfun'],
    models: /^step-3\.5/,
    takes: 'efforts',
    efforts: ['low', 'high'],
    source: 'https://platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create',
  },

  // NVIDIA
  {
    vendors: ['nvidia'],
    takes: 'nothing',
    fields: NOT_NVIDIA.split(' '),
    source: 'https://github.com/can1357/oh-my-pi/issues/2299, https://github.com/sipeed/picoclaw/issues/1019',
  },

  // Cloudflare
  {
    vendors: ['cloudflare'],
    takes: 'text_content',
    source:
      'https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/1256, ' +
      'https://github.com/TencentCloud/TencentDB-Agent-Memory/issues/1313',
  },

  // Cohere
  {
    vendors: ['cohere'],
    takes: 'nothing',
    fields: NOT_COHERE.split(' '),
    source:
      'https://docs.cohere.com/docs/compatibility-api (unsupported parameters), ' +
      'https://app.unpkg.com/@lobehub/chat@1.143.3 (packages/model-runtime/src/providers/cohere: user, stream_options)',
  },
  ...['frequency_penalty', 'presence_penalty'].map((field): RuleRow => ({
    vendors: ['cohere'],
    takes: 'number',
    field,
    least: 0,
    most: 1,
    source: 'https://docs.cohere.com/reference/chat (penalties: from 0 to 1)',
  })),
  {
    vendors: ['cohere'],
    takes: 'efforts',
    efforts: ['none', 'high'],
    source: 'https://docs.cohere.com/docs/compatibility-api (reasoning_effort: none or high)',
  },
  // Embeddings
  {
    notVendors: ['sandbox', ...OPENAI, 'openrouter', 'ark', 'modelark'],
    takes: 'nothing',
    fields: ['encoding_format'],
    source:
      'https://docs.voyageai.com/reference/embeddings-api (null or base64); Extra inputs are not permitted, elsewhere',
  },
])
