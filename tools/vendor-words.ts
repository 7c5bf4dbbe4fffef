/** Names of vendors and of their models. `src/domain` has none of them: what one vendor does is data in src/vendors. */
import { presets } from '../src/vendors/presets.ts'

/** Ids that name no vendor, and one that is an English word. */
const plain = new Set(['sandbox', 'custom', 'responses', 'together', 'deployments'])

/** Owners of presets and families of models that no id and no host names. */
const others =
  `aistudio alibaba baidu bedrock byteplus chatgpt claude codestral cohere dall devstral doubao ernie gemma glm
  google gpt grok hunyuan kimi llama magistral minimax ministral mixtral nvidia qwen qwq seedance seedream sonar tencent
  veo volcengine wenxin zhipu`.split(/\s+/)

/** The second word from the end of a host: `openai` of `api.openai.com`. */
const ownersOf = (baseUrl = ''): readonly string[] => {
  const name = URL.parse(baseUrl)?.hostname.split('.').at(-2) ?? ''
  return /^[a-z]{3,}$/.test(name) ? [name] : []
}

const vendorWords: ReadonlySet<string> = new Set(
  [...presets.flatMap(({ id, baseUrl }) => [...id.split('-'), ...ownersOf(baseUrl)]), ...others].filter(
    (word) => !plain.has(word),
  ),
)

/** Words that mean something else in one file. */
const allowed: Readonly<Record<string, ReadonlySet<string>>> = {
  // The dialects, whichever vendor speaks them.
  'src/domain/turn.ts': new Set(['gemini', 'converse']),
}

/** The names of vendors in a line, including parts of a name in camel case. */
export function vendorsNamedIn(path: string, line: string): readonly string[] {
  const whole = line.match(/[A-Za-z]+/g) ?? []
  const parts = whole.flatMap((word) => word.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [])
  const words = new Set([...whole, ...parts].map((word) => word.toLowerCase()))
  return [...words].filter((word) => vendorWords.has(word) && allowed[path]?.has(word) !== true)
}
