/**
 * Vendors as data. Most of them speak the chat format. Addresses and differences are from the documentation and SDKs of
 * the vendors, read from August to November 2026.
 */
import type { Preset, Quirks } from './preset.ts'

const standard: Quirks = {
  outputMaxField: 'max_tokens',
  usageInStream: 'on_request',
  usageDialect: 'inclusive',
}

type Vendor = Partial<Omit<Preset, 'quirks'>> & Pick<Preset, 'id' | 'label'> & { readonly quirks?: Partial<Quirks> }

const preset = ({ quirks, ...vendor }: Vendor): Preset => ({
  baseUrl: undefined,
  keyVariable: undefined,
  auth: 'bearer',
  dialects: ['chat'],
  probe: 'models',
  hangUp: 'stops_billing',
  ...vendor,
  quirks: { ...standard, ...quirks },
})

/** The versions that the prices of Cohere's models are for. */
const cohereDates: Readonly<Record<string, string>> = {
  'command-a': '-03-2025',
  'command-r': '-08-2024',
  'command-r-plus': '-08-2024',
  'command-r7b': '-12-2024',
}

export const presets: readonly Preset[] = [
  preset({
    id: 'sandbox',
    label: 'Sandbox',
    auth: 'none',
    dialects: ['chat', 'messages', 'gemini'],
    videoApi: 'ark',
    upscaleApi: 'mediakit',
  }),
  preset({
    id: 'openai',
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    dialects: ['chat', 'responses'],
    // Reasoning models refuse max_tokens; every current model takes max_completion_tokens (OpenAPI document, 2026-08).
    quirks: { outputMaxField: 'max_completion_tokens' },
    // gpt-5.3 is the list's name for a family; gpt-oss is priced by resellers; gpt-image-1 is off since 2026-10-23.
    listing: {
      listed: 'openai',
      current:
        /^(?:gpt-4o(?:-mini)?$|gpt-4\.1|gpt-[5-9](?!\.3$)|o[134](?!-(?:mini|preview)$)|o[34]-mini$|text-embedding-|gpt-(?:audio|realtime|image-1[-.]|image-2))/,
      hidesReasoning: true,
    },
  }),
  // A stream states its input tokens first, so a stream that is left is billed by them and by the text that arrived.
  preset({
    id: 'anthropic',
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariable: 'ANTHROPIC_API_KEY',
    auth: 'x-api-key',
    dialects: ['messages'],
    listing: { listed: 'anthropic', current: /^claude-[a-z]+-\d/ },
  }),
  preset({
    id: 'azure',
    label: 'Azure OpenAI',
    auth: 'azure',
    quirks: { outputMaxField: 'max_completion_tokens' },
    listing: { unlisted: 'by_deployment' },
  }),
  // https://{resource}.openai.azure.com/openai. The deployment stands in the path, before the v1 API of 2025-08
  // (learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle, 2026-11).
  preset({
    id: 'azure-deployments',
    label: 'Azure OpenAI, deployments in the path',
    auth: 'azure',
    quirks: { outputMaxField: 'max_completion_tokens', modelIn: 'deployment_path' },
    listing: { unlisted: 'by_deployment' },
  }),
  // https://bedrock-runtime.{region}.amazonaws.com/openai/v1. The endpoint has no list of models
  // (docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html, 2026-11).
  preset({
    id: 'bedrock',
    label: 'Amazon Bedrock',
    auth: 'aws',
    quirks: { outputMaxField: 'max_completion_tokens' },
    listing: { unlisted: 'by_region' },
  }),
  // https://bedrock-runtime.{region}.amazonaws.com/anthropic/v1 or https://bedrock-mantle.{region}.api.aws/anthropic/v1
  // (docs.aws.amazon.com/bedrock/latest/userguide/inference-messages-api.html, 2026-11).
  preset({
    id: 'bedrock-anthropic',
    label: 'Claude on Amazon Bedrock',
    auth: 'aws',
    dialects: ['messages'],
    listing: { unlisted: 'by_region' },
  }),
  // https://bedrock-runtime.{region}.amazonaws.com. The model stands in the path, and there is no list of models
  // (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, 2026-11).
  preset({
    id: 'bedrock-converse',
    label: 'Amazon Bedrock, any model',
    auth: 'aws',
    dialects: ['converse'],
    probe: 'empty_call',
    listing: { unlisted: 'by_region' },
  }),
  preset({
    id: 'groq',
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    quirks: { outputMaxField: 'max_completion_tokens' },
    listing: {
      listed: 'groq',
      current:
        /^(?:openai\/gpt-oss|qwen\/|moonshotai\/|meta-llama\/llama-4|llama-3\.1-8b-instant$|llama-3\.3-70b-versatile$)/,
    },
  }),
  preset({
    id: 'deepseek',
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com',
    keyVariable: 'DEEPSEEK_API_KEY',
    listing: { listed: 'deepseek', current: /^deepseek-(?:chat|reasoner|v4-)/ },
  }),
  preset({
    id: 'mistral',
    label: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    // The API refuses unknown fields, stream_options among them, and always ends a stream with usage (2026-08).
    quirks: { usageInStream: 'unasked' },
    listing: {
      listed: 'mistral',
      current:
        /^(?:(?:codestral|devstral|ministral-\w+|mistral-(?:large|small))-2[5-9]\d\d|mistral-medium-(?:3-5|latest)|mistral-embed)$/,
    },
  }),
  preset({
    id: 'together',
    label: 'Together',
    baseUrl: 'https://api.together.xyz/v1',
    keyVariable: 'TOGETHER_API_KEY',
    listing: { listed: 'together', current: /^meta-llama\/(?:Llama-(?:3\.3|4)|Meta-Llama-3\.1-8B-Instruct)/ },
  }),
  preset({
    id: 'openrouter',
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    listing: { unlisted: 'passed_on' },
  }),
  preset({
    id: 'xai',
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    // On the chat endpoint reasoning_tokens come on top of completion_tokens (2026-08).
    quirks: { usageDialect: 'reasoning_apart' },
    listing: { listed: 'x-ai', current: /^grok-(?:[3-9]|build|code)/, hidesReasoning: true, endedByContext: true },
  }),
  preset({
    id: 'fireworks',
    label: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariable: 'FIREWORKS_API_KEY',
    // Its routers, -fast and -us, have another prefix.
    listing: { listed: 'fireworks', current: /^(?!.*-(?:fast|us)$)/, upstreamPrefix: 'accounts/fireworks/models/' },
  }),
  preset({
    id: 'cerebras',
    label: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    listing: { listed: 'cerebras', current: /./ },
  }),
  preset({
    id: 'deepinfra',
    label: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keyVariable: 'DEEPINFRA_API_KEY',
    listing: { unlisted: 'unlisted' },
  }),
  preset({
    id: 'moonshot',
    label: 'Moonshot',
    baseUrl: 'https://api.moonshot.ai/v1',
    keyVariable: 'MOONSHOT_API_KEY',
    listing: { listed: 'moonshotai', current: /./ },
  }),
  preset({
    id: 'alibaba',
    label: 'Alibaba Model Studio',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyVariable: 'DASHSCOPE_API_KEY',
    listing: { unlisted: 'unlisted' },
  }),
  // GLM at the company's international address. Its other address, zhipu, has prices and keys of its own (docs.z.ai and
  // docs.bigmodel.cn, 2026-11).
  preset({
    id: 'zai',
    label: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyVariable: 'ZAI_API_KEY',
    listing: { listed: 'zai', current: /./, spelt: (id) => id.toLowerCase() },
  }),
  // Some prices depend on the length of the input. The public list has them in dollars and for short inputs only.
  preset({
    id: 'zhipu',
    label: 'Zhipu BigModel',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    keyVariable: 'ZHIPU_API_KEY',
    listing: { unlisted: 'other_currency' },
  }),
  // Models before M3.1 put their reasoning into the text, between <think> and </think>, and want it back unchanged
  // (platform.minimax.io/docs/api-reference/text-openai-api, 2026-11).
  preset({
    id: 'minimax',
    label: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    keyVariable: 'MINIMAX_API_KEY',
    listing: {
      listed: 'minimax',
      current: /^(?:MiniMax-M2(?!\.1)|minimax-m3)/,
      spelt: (id) => id.replace('minimax-m3', 'MiniMax-M3'),
    },
  }),
  // cloud.tencent.com/document/product/1729/111007, of 2026-01-08.
  preset({
    id: 'hunyuan',
    label: 'Tencent Hunyuan',
    baseUrl: 'https://api.hunyuan.cloud.tencent.com/v1',
    keyVariable: 'HUNYUAN_API_KEY',
    listing: { unlisted: 'other_currency' },
  }),
  // cloud.baidu.com/doc/qianfan/s/Hmh4suq26, of 2025-12-09.
  preset({
    id: 'qianfan',
    label: 'Baidu Qianfan',
    baseUrl: 'https://qianfan.baidubce.com/v2',
    keyVariable: 'QIANFAN_API_KEY',
    listing: { unlisted: 'other_currency' },
  }),
  // The address in China is https://api.siliconflow.cn/v1, with accounts of its own (chatboxai/chatbox#2573, 2025-08).
  preset({
    id: 'siliconflow',
    label: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.com/v1',
    keyVariable: 'SILICONFLOW_API_KEY',
    listing: { unlisted: 'unlisted' },
  }),
  // The international address is https://api.stepfun.ai/v1 (platform.stepfun.com/docs, 2026-11).
  preset({
    id: 'stepfun',
    label: 'StepFun',
    baseUrl: 'https://api.stepfun.com/v1',
    keyVariable: 'STEPFUN_API_KEY',
    listing: { unlisted: 'other_currency' },
  }),
  // Its list of models needs no key, so it proves nothing (docs.api.nvidia.com/nim, 2026-11).
  preset({
    id: 'nvidia',
    label: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    keyVariable: 'NVIDIA_API_KEY',
    probe: 'empty_call',
    listing: { unlisted: 'unlisted' },
  }),
  // The same holds for this list (huggingface.co/docs/inference-providers, 2026-11).
  preset({
    id: 'huggingface',
    label: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    keyVariable: 'HF_TOKEN',
    probe: 'empty_call',
    listing: { unlisted: 'passed_on' },
  }),
  // Models whose limits no public list has are left out, here and at MiniMax.
  // https://api.cloudflare.com/client/v4/accounts/{account id}/ai/v1
  // (developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility, 2026-11).
  preset({
    id: 'cloudflare',
    label: 'Cloudflare Workers AI',
    listing: {
      listed: 'cloudflare',
      current:
        /^@cf\/(?:google\/gemma-4|ibm-granite|meta\/llama-(?:3\.1-8b-instruct-fp8$|3\.[23]-|4-)|mistralai|moonshotai\/kimi-k2\.[67]|nvidia|openai|qwen\/(?!qwen3\.8)|zai-org\/(?!glm-5\.3))/,
    },
  }),
  // It does not know stream_options (docs.cohere.com/docs/compatibility-api, 2026-11). The list leaves out the dates in
  // the ids.
  preset({
    id: 'cohere',
    label: 'Cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    keyVariable: 'COHERE_API_KEY',
    quirks: { usageInStream: 'unasked' },
    listing: {
      listed: 'cohere',
      current: /^(?:command-a|command-r|command-r-plus|command-r7b|embed-v4\.0)$/,
      spelt: (id) => `${id}${cohereDates[id] ?? ''}`,
    },
  }),
  // Its chat endpoint ended on 2026-09-27. The Agent API answers at /v1/responses, too. It shows its list of models
  // without a key (docs.perplexity.ai, "Migrate from Sonar to the Agent API", 2026-11).
  preset({
    id: 'perplexity',
    label: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai/v1',
    keyVariable: 'PERPLEXITY_API_KEY',
    dialects: ['responses'],
    probe: 'empty_call',
    listing: { unlisted: 'fee' },
  }),
  preset({
    id: 'gemini',
    label: 'Google Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
    auth: 'x-goog-api-key',
    dialects: ['gemini'],
    videoApi: 'veo',
    listing: { listed: 'google', current: /^gemini-(?:2\.5|[3-9]|embedding)/, hidesReasoning: true },
  }),
  preset({
    id: 'vertex',
    label: 'Google Vertex AI',
    // https://{region}-aiplatform.googleapis.com/v1beta1/projects/{project}/locations/{region}/publishers/google
    auth: 'google-service-account',
    dialects: ['gemini'],
    videoApi: 'vertex-veo',
    // Refuses functionCall.id and functionResponse.id, which AI Studio gives and takes (Vertex, 2026-11).
    quirks: { callIds: 'refused' },
    listing: { unlisted: 'by_region' },
  }),
  // https://{region}-aiplatform.googleapis.com/v1beta1/projects/{project}/locations/{region}/publishers/anthropic
  // (docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude, 2026-11).
  preset({
    id: 'vertex-anthropic',
    label: 'Claude on Google Vertex AI',
    auth: 'google-service-account',
    dialects: ['messages'],
    quirks: { modelIn: 'publisher_path' },
    listing: { unlisted: 'by_region' },
  }),
  preset({
    id: 'ark',
    label: 'Volcengine Ark',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    keyVariable: 'ARK_API_KEY',
    videoApi: 'ark',
    probe: 'video_tasks',
    listing: { unlisted: 'by_pixels' },
  }),
  preset({
    id: 'modelark',
    label: 'BytePlus ModelArk',
    baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
    keyVariable: 'MODELARK_API_KEY',
    videoApi: 'ark',
    probe: 'video_tasks',
    listing: { unlisted: 'by_pixels' },
  }),
  preset({
    id: 'mediakit',
    label: 'Volcengine AI MediaKit',
    baseUrl: 'https://amk.cn-beijing.volces.com/api/v1',
    keyVariable: 'MEDIAKIT_API_KEY',
    upscaleApi: 'mediakit',
    probe: 'unknown_task',
    listing: { unlisted: 'upscaler' },
  }),
  preset({ id: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', auth: 'none' }),
  // Serves /v1/messages beside /v1/chat/completions (2026-08).
  preset({ id: 'vllm', label: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', dialects: ['chat', 'messages'] }),
  preset({ id: 'llamacpp', label: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' }),
  preset({ id: 'custom', label: 'OpenAI-compatible' }),
  preset({ id: 'custom-responses', label: 'OpenAI-compatible, /responses', dialects: ['responses'] }),
]

const THIS_MACHINE = 'http://127.0.0.1:'

const byId = new Map(presets.map((vendor) => [vendor.id, vendor]))

/**
 * Whether a base URL has the origin of its preset, and that origin is on this machine. An operator who chooses such a
 * preset allows calls to this machine. The address of a vendor on the Internet does not count.
 */
export function isOwnAddress(presetId: string, baseUrl: string): boolean {
  const own = byId.get(presetId)?.baseUrl
  return own !== undefined && own.startsWith(THIS_MACHINE) && URL.parse(own)?.origin === URL.parse(baseUrl)?.origin
}

const HEADER_TEXT = /^[\x20-\x7e]+$/

/** Whether a key can be sent. All go into a header but JSON that is exchanged or that has keys for signatures. */
export function isSendableKey(presetId: string, key: string): boolean {
  const auth = byId.get(presetId)?.auth
  if (auth === 'google-service-account') return true
  const isJson = key.trimStart().startsWith('{')
  return (isJson && (auth === 'azure' || auth === 'aws')) || HEADER_TEXT.test(key)
}

/** The refusal of a key that cannot be sent. */
export const UNSENDABLE_KEY =
  'the key has a character that no header can carry: it must be printable ASCII, on one line'

/** The preset of an id. Undefined: there is none. */
export const findPreset = (id: string): Preset | undefined => byId.get(id)
