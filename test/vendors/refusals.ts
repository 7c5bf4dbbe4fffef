/**
 * The refusals of vendors in their own words, each with the public place of the report or the document, read on
 * 2026-11-25. They are written independently of src/vendors/rules.ts, so that both do not share a mistake.
 */
import { fieldsOf, listOf, textOf, type Fields, type SeenRequest, type SeenCall } from './seen.ts'

export type Refusal = {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}
/** What a vendor looks at. */
export type VendorRequest = {
  readonly body: Fields
  readonly seen: SeenRequest
  readonly model: string
  readonly path?: string
}
export type Check = (sent: VendorRequest) => Refusal | undefined

const openai = (message: string, param: string | null = null, code: string | null = null, status = 400): Refusal => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param, code } },
})
const tooLong = (field: string, most: number, value: string): Refusal =>
  openai(
    `Invalid '${field}': string too long. Expected a string with maximum length ${most}, but got a string with length ${value.length} instead.`,
    field,
    'string_above_max_length',
  )
const anthropic = (message: string): Refusal => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', message } },
})
const google = (message: string): Refusal => ({
  status: 400,
  body: { error: { code: 400, status: 'INVALID_ARGUMENT', message } },
})

const callsOf = ({ messages }: SeenRequest): readonly SeenCall[] => messages.flatMap(({ calls }) => calls)

/** Of models that reason: OpenAI's names, for every place that serves them. */
const REASONS = /^(?:gpt-(?:[5-9]|\d\d)|o\d)/
/** These do not where nobody says how much: their default is none (platform.openai.com/docs/guides/latest-model). */
const RESTS_UNASKED = /^gpt-5\.[1-5]/
const isReasoning = (model: string, effort: unknown): boolean =>
  REASONS.test(model) && effort !== 'none' && (effort !== undefined || !RESTS_UNASKED.test(model))
/** OpenAI, gpt-5.4 and later (openai/openai-openapi#541, danny-avila/LibreChat#14355). */
const TOOLS_ELSEWHERE = /^gpt-(?:5\.[4-9]|[6-9])/

/** OpenAI's chat format, as its own API and its resellers check it. */
const chatShape: Check = ({ body, seen, model }) => {
  const open = new Set<string>()
  for (const [i, { role, calls, results }] of seen.messages.entries()) {
    // OpenAI's error of a history without results (openai/openai-python#1266).
    if (open.size > 0 && role !== 'tool') {
      return openai(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        `messages.[${i}].role`,
      )
    }
    for (const { id, args, name } of calls) {
      if (id === '' || open.has(id)) return openai(`Invalid 'messages[${i}].tool_calls': duplicate or empty id.`)
      if (!seen.customTools.includes(name) && !isObject(args))
        return openai(`Invalid 'messages[${i}].tool_calls[0].function.arguments': not a JSON object.`)
      if (!/^[\w-]{1,64}$/.test(name)) return openai(`Invalid 'messages[${i}].tool_calls[0].function.name'`)
      open.add(id)
    }
    for (const { id } of results) {
      if (!open.delete(id))
        return openai(`Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`)
    }
  }
  // BerriAI/litellm#17904.
  const long = seen.tools.findIndex((name) => name.length > 64)
  if (long >= 0) return tooLong(`tools[${long}].function.name`, 64, seen.tools[long] ?? '')
  const odd = seen.tools.find((name) => !/^[a-zA-Z0-9_-]+$/.test(name))
  if (odd !== undefined) return openai(`Invalid 'tools[0].function.name': string does not match pattern. Got ${odd}`)
  // Models that have learnt to call by free text (platform.openai.com/docs/guides/function-calling#custom-tools).
  const takesFreeText = /^gpt-[5-9]/.test(model)
  const other = listOf(body['tools']).find(({ type }) => type !== 'function' && !(takesFreeText && type === 'custom'))
  if (other) return openai(`tools[0].type: unknown variant \`${textOf(other['type'])}\`, expected \`function\``)
  return undefined
}

const isObject = (json: string): boolean => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** OpenAI and Azure. */
export const openaiChat: Check = (sent) => {
  const { body, seen, model } = sent
  const { user, stop, reasoning_effort: effort, temperature, tools } = body
  // maximhq/bifrost#1000
  if (textOf(user).length > 64) return tooLong('user', 64, textOf(user))
  // jimmc414/claude_n_codex_api_proxy#24
  for (const field of ['top_k', 'thinking', 'metadata_user_id', 'min_p']) {
    if (field in body) return openai(`Unrecognized request argument supplied: ${field}`)
  }
  // musistudio/claude-code-router#724
  if (/^gpt-[34]/.test(model) && effort !== undefined) {
    return openai('Unrecognized request argument supplied: reasoning_effort')
  }
  if (isReasoning(model, effort)) {
    if (temperature !== undefined && temperature !== 1) {
      return openai(
        `Unsupported value: 'temperature' does not support ${JSON.stringify(temperature)} with this model. Only the default (1) value is supported.`,
        'temperature',
        'unsupported_value',
      )
    }
    if (body['top_p'] !== undefined && body['top_p'] !== 1) {
      return openai(
        "Unsupported parameter: 'top_p' is not supported with this model.",
        'top_p',
        'unsupported_parameter',
      )
    }
  }
  if (REASONS.test(model) && stop !== undefined) {
    return openai("Unsupported parameter: 'stop' is not supported with this model.", 'stop', 'unsupported_parameter')
  }
  if (REASONS.test(model) && 'max_tokens' in body) {
    return openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  }
  if (TOOLS_ELSEWHERE.test(model) && tools !== undefined && effort !== 'none') {
    return openai(
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      'reasoning_effort',
    )
  }
  if (Array.isArray(stop) && stop.length > 4) {
    return openai(
      "Invalid 'stop': array too long. Expected an array with maximum length 4.",
      'stop',
      'array_above_max_length',
    )
  }
  // orchidfiles/ungate#26: 40 in this format.
  const long = callsOf(seen).find(({ id }) => id.length > 40)
  if (long) return tooLong('messages[1].tool_calls[0].id', 40, long.id)
  const thinking = listOf(body['messages']).some((message) => 'reasoning_content' in message)
  if (thinking) return openai("Unknown parameter: 'messages[1].reasoning_content'.", null, 'unknown_parameter')
  return chatShape(sent)
}

/** Kinds of tools that come in with a generation of models. */
const FREE_TEXT = /^gpt-(?:[5-9]|\d\d)/
const GROUPS = /^gpt-(?:5\.[4-9]|[6-9])/
const toolsOf = (body: Fields): readonly Fields[] => [
  ...listOf(body['tools']),
  ...listOf(body['input']).flatMap(({ tools }) => listOf(tools)),
]

/** CommandCodeAI/command-code#885, envoyproxy/ai-gateway#2317: servers of the format that only know functions. */
const FUNCTION_ITEMS = new Set('message reasoning function_call function_call_output'.split(' '))
const functionsOnly: Check = ({ body }) => {
  const tool = toolsOf(body).find(({ type }) => type !== 'function')
  if (tool)
    return openai(`Only \`type:"function"\` tools are supported, not '${textOf(tool['type'])}'.`, 'tools.0.type')
  // mxyhi/token_proxy#307
  const item = listOf(body['input']).find(({ type }) => !FUNCTION_ITEMS.has(textOf(type)))
  return item && openai(`Unsupported Responses API input item type: '${textOf(item['type'])}'`, 'input')
}

/** OpenAI's responses format. */
export const openaiResponses: Check = (sent) => {
  const { body, seen, model } = sent
  const hosted = toolsOf(body).find(({ type }) => /search_preview|^web_search|interpreter|^mcp$/.test(textOf(type)))
  if (hosted) return openai(`A tool that the vendor bills by the call: ${textOf(hosted['type'])}`)
  const plain = GROUPS.test(model) ? undefined : FREE_TEXT.test(model) ? withoutGroups(sent) : functionsOnly(sent)
  if (plain) return plain
  for (const field of ['user', 'safety_identifier', 'prompt_cache_key']) {
    if (textOf(body[field]).length > 64) return tooLong(field, 64, textOf(body[field]))
  }
  for (const field of ['top_k', 'stop', 'seed', 'n', 'reasoning_effort', 'messages', 'max_tokens']) {
    if (field in body) return openai(`Unknown parameter: '${field}'.`, field, 'unknown_parameter')
  }
  const effort = fieldsOf(body['reasoning'])['effort']
  if (isReasoning(model, effort) && body['temperature'] !== undefined && body['temperature'] !== 1) {
    return openai("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature')
  }
  const called = new Set<string>()
  const answered = new Set(seen.messages.flatMap(({ results }) => results.map(({ id }) => id)))
  const lone = callsOf(seen).find(({ id }) => !answered.has(id))
  // openai/codex#93
  if (lone) return openai(`No tool output found for function call ${lone.id}.`, 'input')
  for (const [i, one] of listOf(body['input']).entries()) {
    const id = textOf(one['call_id'])
    if (id.length > 64) return tooLong(`input[${i}].call_id`, 64, id)
    if (one['type'] === 'function_call' || one['type'] === 'custom_tool_call') {
      if (called.has(id)) return openai(`Duplicate call_id '${id}'.`)
      called.add(id)
    }
    if (textOf(one['type']).endsWith('_call_output') && !called.has(id)) {
      return openai(`No tool call found for function call output with call_id ${id}.`, 'input')
    }
    const sealed = one['encrypted_content']
    if (one['type'] === 'reasoning' && !textOf(sealed).startsWith(RESPONSES_SEAL)) {
      return openai(
        `The encrypted content ${textOf(sealed).slice(0, 20)} could not be verified.`,
        null,
        'invalid_encrypted_content',
      )
    }
  }
  const long = seen.tools.findIndex((name) => !/^[\w-]{1,64}$/.test(name))
  return long < 0 ? undefined : tooLong(`tools[${long}].name`, 64, seen.tools[long] ?? '')
}

/** developers.openai.com/api/docs/guides/tools-tool-search: from gpt-5.4 on. */
const withoutGroups: Check = ({ body, model }) => {
  const tool = toolsOf(body).find(({ type }) => type !== 'function' && type !== 'custom')
  if (tool) return openai(`Tool '${textOf(tool['type'])}' is not supported with ${model}.`, 'tools')
  const item = listOf(body['input']).find(({ type }) => /^additional_tools$|^tool_search/.test(textOf(type)))
  return item && openai(`Invalid value: '${textOf(item['type'])}'.`, 'input')
}

/** What the fake seals its thoughts with: all that comes back must be its own. */
export const RESPONSES_SEAL = 'gAAAAAB'
export const MESSAGES_SEAL = 'EqQBCgIYAhIk'
export const GEMINI_SEAL = 'CgIBAgAA'
export const CONVERSE_SEAL = 'ErUBCkYIBxgC'

const MISTRAL = new Set(
  'model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort guardrails safe_prompt prompt_cache_key'.split(
    ' ',
  ),
)
/** mozilla-ai/any-llm#679; ids: anomalyco/opencode#1680. */
export const mistralChat: Check = (sent) => {
  const { body, seen } = sent
  const extra = Object.keys(body).filter((key) => !MISTRAL.has(key))
  if (extra.length > 0) {
    const detail = extra.map((key) => ({
      type: 'extra_forbidden',
      loc: ['body', key],
      msg: 'Extra inputs are not permitted',
    }))
    return {
      status: 422,
      body: { object: 'error', message: { detail }, type: 'invalid_request_error', param: null, code: null },
    }
  }
  const odd = callsOf(seen).find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id))
  if (odd) {
    const message = `Tool call id was ${odd.id} but must be a-z, A-Z, 0-9, with a length of 9.`
    return { status: 400, body: { object: 'error', message, type: 'invalid_function_call', param: null, code: '3280' } }
  }
  return noDeveloper(sent) ?? noThoughts(sent) ?? chatShape(sent)
}

/** earendil-works/pi#1048 and many others. */
const noDeveloper: Check = ({ body }) => {
  const at = listOf(body['messages']).findIndex(({ role }) => role === 'developer')
  return at < 0
    ? undefined
    : openai(
        `messages[${at}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\``,
      )
}

/** Groq, Mistral and Cerebras know no such field of a message. */
const noThoughts: Check = ({ body }) => {
  const at = listOf(body['messages']).findIndex((message) => 'reasoning_content' in message)
  return at < 0 ? undefined : openai(`'messages.${at}' : property 'reasoning_content' is unsupported`)
}

/** api-docs.deepseek.com/guides/thinking_mode; deepseek-ai/DeepSeek-V3#1277. */
export const deepseekChat: Check = (sent) => {
  const { body, seen } = sent
  const format = fieldsOf(body['response_format'])['type']
  if (format === 'json_schema') return openai('This response_format type is unavailable now')
  if (body['user'] !== undefined && !/^[\w-]+$/.test(textOf(body['user']))) {
    return openai('Invalid user_id: it should match ^[a-zA-Z0-9_-]+$')
  }
  if (Array.isArray(body['stop']) && body['stop'].length > 16) return openai('Invalid stop: at most 16')
  return noDeveloper(sent) ?? thoughtsBack(seen) ?? chatShape(sent)
}

function thoughtsBack({ messages }: SeenRequest): Refusal | undefined {
  const lacks = messages.some(({ calls, thought }) => calls.length > 0 && !thought)
  return lacks
    ? openai(
        'The `reasoning_content` in the thinking mode must be passed back to the API.',
        null,
        'invalid_request_error',
      )
    : undefined
}

const all =
  (...checks: readonly Check[]): Check =>
  (sent) => {
    for (const check of checks) {
      const refusal = check(sent)
      if (refusal) return refusal
    }
    return undefined
  }

/** What most vendors of the chat format refuse, as data. */
type ChatRefusals = {
  readonly unknownFields?: readonly string[]
  /** The most characters of a text, or items of a list. */
  readonly lengthMax?: Readonly<Record<string, number>>
  /** The reasoning of an earlier message. */
  readonly thoughts?: 'refused'
  /** The role `developer`. */
  readonly developer?: 'refused'
}

/** A vendor that refuses these, and whatever breaks the format. */
export const chatWithout = ({ unknownFields = [], lengthMax = {}, thoughts, developer }: ChatRefusals): Check =>
  all(
    ({ body }) => {
      const found = unknownFields.find((field) => field in body)
      return found === undefined ? undefined : openai(`property '${found}' is unsupported`, found)
    },
    ({ body }) => {
      const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : textOf(value).length)
      const long = Object.entries(lengthMax).find(([field, most]) => lengthOf(body[field]) > most)
      return long && openai(`Invalid input: '${long[0]}' must have at most ${long[1]} characters or items`, long[0])
    },
    ...(thoughts ? [noThoughts] : []),
    ...(developer ? [noDeveloper] : []),
    chatShape,
  )
/** looplj/axonhub#1669 */
const userOfSix: Check = ({ body: { user } }) =>
  user !== undefined && (textOf(user).length < 6 || textOf(user).length > 128)
    ? openai('user_id: The unique ID of the user must be between 6 and 128 characters in length.', null, '1210')
    : undefined
export const zhipuChat = all(userOfSix, noDeveloper, ({ seen }) => thoughtsBack(seen), chatShape)
export const arkChat = all(userOfSix, noDeveloper, chatShape)

const numberAbove =
  (field: string, least: number, most: number): Check =>
  ({ body }) => {
    const value = body[field]
    return typeof value === 'number' && (value <= least || value > most)
      ? openai(`invalid params, ${field} should be above ${least} and at most ${most}`, field)
      : undefined
  }
/** docs.spring.io/spring-ai/reference/api/chat/zhipuai-chat.html; BerriAI/litellm#37797, browserbase/stagehand#1706. */
export const glmChat = all(
  numberAbove('temperature', -1, 1),
  ({ body }) =>
    Array.isArray(body['stop']) && body['stop'].length > 1
      ? openai('stop: one word at most', 'stop', '1210')
      : undefined,
  ({ body }) =>
    fieldsOf(body['response_format'])['type'] === 'json_schema' ? openai('response_format.type: invalid') : undefined,
  zhipuChat,
)
/** promptfoo.dev/docs/providers/minimax; the form of the error: BigPizzaV3/CodexPlusPlus#267. */
export const minimaxChat = all(
  numberAbove('temperature', 0, 1),
  noDeveloper,
  ({ seen }) => thoughtsBack(seen),
  chatShape,
)

/** FoundationAgents/OpenManus#894, lobehub/lobehub#7173; cloud.tencent.com/document/api/1729/101836. */
const alternates: Check = ({ seen: { messages } }) => {
  const refusal = openai(
    'messages 中 user（tool） 和 assistant 角色需交替出现 (一问一答)，以 user 提问开始， user（tool）提问结束, tool 可以连续出现多次',
    null,
    '1001',
  )
  const said = messages[0]?.role === 'system' ? messages.slice(1) : messages
  if (said[0]?.role !== 'user' || said.at(-1)?.role === 'assistant') return refusal
  if (said.some(({ role }) => role === 'system')) return refusal
  const isOdd = said.some(({ role }, i) => {
    const before = said[i - 1]?.role
    if (before === undefined) return false
    return role === 'assistant' ? before === 'assistant' : role === 'tool' ? before === 'user' : before !== 'assistant'
  })
  return isOdd ? refusal : undefined
}
export const hunyuanChat = all(noDeveloper, alternates, chatShape)

/** The messages of devoxx/DevoxxGenieIDEAPlugin#1256; TencentCloud/TencentDB-Agent-Memory#1313. */
const textContent: Check = ({ body }) => {
  const odd = listOf(body['messages']).findIndex(({ content }) => {
    if (typeof content === 'string') return false
    return !Array.isArray(content) || listOf(content).every(({ type }) => type === 'text')
  })
  if (odd < 0) return undefined
  const message = `AiError: Bad input: Error: oneOf at '/' not met, 0 matches: Type mismatch of '/messages/${odd}/content', 'array' not in 'string'`
  return { status: 400, body: { errors: [{ message, code: 5006 }], success: false, result: {}, messages: [] } }
}
export const cloudflareChat = all(noDeveloper, textContent, chatShape)

const effortsOf =
  (...taken: readonly string[]): Check =>
  ({ body: { reasoning_effort: effort } }) =>
    effort === undefined || taken.includes(textOf(effort))
      ? undefined
      : openai(`reasoning_effort: invalid`, 'reasoning_effort')
/** platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create */
export const stepChat = all(effortsOf('low', 'high'), noDeveloper, chatShape)
/** docs.cohere.com/docs/compatibility-api (supported and unsupported parameters) */
export const cohereChat = all(
  effortsOf('none', 'high'),
  noDeveloper,
  ({ body }) => {
    const unknown = 'store metadata logit_bias top_logprobs n service_tier parallel_tool_calls user stream_options'
    const found = unknown.split(' ').find((field) => field in body)
    return found === undefined
      ? undefined
      : { status: 422, body: { id: 'e1', message: `unsupported parameter: ${found}` } }
  },
  chatShape,
)
/** can1357/oh-my-pi#2299 (its schemas forbid further fields), NVIDIA/garak#748 (the words). */
export const nvidiaChat: Check = (sent) => {
  const known =
    'model messages temperature top_p max_tokens seed stop stream stream_options tools tool_choice frequency_penalty ' +
    'presence_penalty response_format reasoning_effort n parallel_tool_calls logprobs top_logprobs top_k'
  const extra = Object.keys(sent.body).find((key) => !known.split(' ').includes(key))
  if (extra === undefined) return noDeveloper(sent) ?? chatShape(sent)
  return {
    status: 422,
    body: {
      type: 'urn:inference-service:problem-details:unprocessable-entity',
      title: 'Unprocessable Entity',
      status: 422,
      detail: `body -> ${extra}\n  Extra inputs are not permitted (type=extra_forbidden)`,
    },
  }
}
/** A server of the responses format that knows what was in it at first. */
export const plainResponses = all(functionsOnly, openaiResponses)
export const plainChat = chatWithout({ developer: 'refused' })
export const kimiChat = all(noDeveloper, ({ seen }) => thoughtsBack(seen), chatShape)

const MESSAGES = new Set(
  'model messages max_tokens system stream temperature top_p top_k stop_sequences tools tool_choice thinking metadata output_config service_tier container context_management cache_control'.split(
    ' ',
  ),
)
/** docs.anthropic.com (Messages, extended thinking, tool use); reports at each line. */
export const anthropicMessages: Check = ({ body, seen }) => {
  const extra = Object.keys(body).find((key) => !MESSAGES.has(key))
  if (extra !== undefined) return anthropic(`${extra}: Extra inputs are not permitted`)
  if (typeof body['max_tokens'] !== 'number') return anthropic('max_tokens: Field required')
  const thinking = fieldsOf(body['thinking'])['type']
  if (thinking === 'enabled' && body['temperature'] !== undefined && body['temperature'] !== 1) {
    return anthropic('`temperature` may only be set to 1 when thinking is enabled.')
  }
  const ids = new Set<string>()
  let open = new Set<string>()
  const last = seen.messages.findLastIndex(({ role }) => role === 'assistant')
  for (const [i, { role, content }] of listOf(body['messages']).entries()) {
    const blocks = listOf(content)
    if (Array.isArray(content) && content.length === 0) return anthropic(`messages.${i}: content must not be empty`)
    const answered = blocks.filter(({ type }) => type === 'tool_result').map((block) => textOf(block['tool_use_id']))
    if (open.size > 0 && [...open].some((id) => !answered.includes(id))) {
      return anthropic(`messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`)
    }
    if (answered.some((id) => !open.has(id))) {
      return anthropic(
        `messages.${i}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${answered.join()}`,
      )
    }
    open = new Set()
    for (const [j, block] of blocks.entries()) {
      const at = `messages.${i}.content.${j}`
      if (block['type'] === 'text' && textOf(block['text']) === '')
        return anthropic('messages: text content blocks must be non-empty')
      if (block['type'] === 'thinking' && !textOf(block['signature']).startsWith(MESSAGES_SEAL)) {
        return anthropic(`${at}: Invalid \`signature\` in \`thinking\` block`)
      }
      if (block['type'] !== 'tool_use') continue
      const id = textOf(block['id'])
      // musistudio/claude-code-router#1808; anthropics/claude-code#20885
      if (!/^[a-zA-Z0-9_-]+$/.test(id))
        return anthropic(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
      if (ids.has(id)) return anthropic(`${at}: \`tool_use\` ids must be unique`)
      const { input } = block
      if (typeof input !== 'object' || input === null || Array.isArray(input)) {
        return anthropic(`${at}.tool_use.input: Input should be a valid dictionary`)
      }
      ids.add(id)
      open.add(id)
    }
    const first = textOf(blocks[0]?.['type'])
    const isLastCaller = role === 'assistant' && i === last && open.size > 0
    if (thinking === 'enabled' && isLastCaller && !/thinking/.test(first)) {
      return anthropic(
        `messages.${i}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``,
      )
    }
  }
  const odd = seen.tools.findIndex((name) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
  return odd < 0
    ? undefined
    : anthropic(`tools.${odd}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
}

/** docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude: the version is in the body. */
export const publisherMessages: Check = (sent) => {
  const { model, anthropic_version: version, ...body } = sent.body
  if (model !== undefined) return anthropic('model: Extra inputs are not permitted')
  if (version !== 'vertex-2023-10-16') return anthropic('anthropic_version: Field required')
  return anthropicMessages({ ...sent, body })
}

const GEMINI = new Set(
  'contents systemInstruction system_instruction tools toolConfig tool_config safetySettings generationConfig generation_config cachedContent labels'.split(
    ' ',
  ),
)
const GENERATION = new Set(
  'temperature topP topK candidateCount maxOutputTokens stopSequences presencePenalty frequencyPenalty responseMimeType responseSchema responseJsonSchema seed responseLogprobs logprobs thinkingConfig responseModalities mediaResolution'.split(
    ' ',
  ),
)
/** ai.google.dev/api/generate-content and gemini-api/docs/thought-signatures. */
const geminiShape: Check = ({ body, seen }) => {
  const extra = Object.keys(body).find((key) => !GEMINI.has(key))
  if (extra !== undefined) return google(`Invalid JSON payload received. Unknown name "${extra}": Cannot find field.`)
  const unknown = Object.keys(fieldsOf(body['generationConfig'])).find((key) => !GENERATION.has(key))
  if (unknown !== undefined) {
    return google(`Invalid JSON payload received. Unknown name "${unknown}" at 'generation_config': Cannot find field.`)
  }
  const odd = seen.tools.find((name) => !/^[a-zA-Z_][\w.:-]{0,63}$/.test(name))
  if (odd !== undefined) return google(`Invalid function name: ${odd}. Must start with a letter or an underscore.`)
  let calls: readonly SeenCall[] = []
  for (const { role, calls: made, results } of seen.messages) {
    if (results.length > 0 && results.length !== calls.length) {
      return google(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    for (const [i, { id, name }] of results.entries()) {
      // Without ids their order is all there is.
      const call = id === '' ? calls[i] : calls.find((one) => one.id === id)
      if (name !== call?.name) return google(`Function response ${i} is of '${name}', its call of '${call?.name}'.`)
    }
    if (calls.length > 0 && role === 'user' && results.length === 0) {
      return google('Please ensure that function call turn comes immediately before a function response turn.')
    }
    if (made.length > 0 && made[0]?.signature === undefined) {
      return google('Function call is missing a thought_signature in functionCall parts.')
    }
    const isOwn = ({ signature }: SeenCall): boolean =>
      signature === undefined || signature.startsWith(GEMINI_SEAL) || signature === 'skip_thought_signature_validator'
    if (!made.every(isOwn)) return google('Thought signature is not valid.')
    if (role === 'assistant' || results.length > 0) calls = role === 'assistant' ? made : []
  }
  return undefined
}

export const geminiContents = geminiShape
/** Vertex refuses the ids that AI Studio gives (googleapis/python-genai#1289). */
export const vertexContents: Check = (sent) => {
  const parts = listOf(sent.body['contents']).flatMap(({ parts: given }) => listOf(given))
  const hasId = parts.some(
    ({ functionCall, functionResponse }) => 'id' in fieldsOf(functionCall) || 'id' in fieldsOf(functionResponse),
  )
  if (hasId)
    return google(
      `Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`,
    )
  return geminiShape(sent)
}
