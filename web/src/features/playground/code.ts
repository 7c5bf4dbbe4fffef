/** A chat request as the code of a program. */
export const codeTools = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'typescript', label: 'TypeScript' },
] as const
export type CodeTool = (typeof codeTools)[number]['value']

type Fields = Readonly<Record<string, unknown>>
type Facts = { readonly baseUrl: string; readonly body: Fields }

export function codeOf(tool: CodeTool, { baseUrl, body }: Facts): string {
  switch (tool) {
    case 'curl':
      // The body is read from standard input. Images do not fit on a command line, and nothing has to be quoted.
      return [
        `curl ${baseUrl}/chat/completions \\`,
        '  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\',
        '  -H "Content-Type: application/json" \\',
        "  -d @- <<'JSON'",
        JSON.stringify(body, null, 2),
        'JSON',
      ].join('\n')
    case 'python':
      return [
        'import os',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["TOLLGATE_API_KEY"])`,
        'stream = client.chat.completions.create(',
        ...Object.entries(body).map(([name, value]) => `    ${name}=${pythonOf(value, '    ')},`),
        ')',
        'for chunk in stream:',
        '    for choice in chunk.choices:',
        '        print(choice.delta.content or "", end="", flush=True)',
      ].join('\n')
    case 'typescript':
      return [
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.TOLLGATE_API_KEY })`,
        `const stream = await client.chat.completions.create(${JSON.stringify(body, null, 2)})`,
        'for await (const chunk of stream) {',
        "  process.stdout.write(chunk.choices[0]?.delta.content ?? '')",
        '}',
      ].join('\n')
  }
}

function pythonOf(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${indent}    `
  const [open, close, items] = Array.isArray(value)
    ? ['[', ']', value.map((item) => pythonOf(item, deeper))]
    : ['{', '}', Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item, deeper)}`)]
  if (items.length === 0) return open + close
  return `${open}\n${items.map((item) => `${deeper}${item},\n`).join('')}${indent}${close}`
}

/** For display only: images are too long to be read. */
export const shortened = (code: string): string =>
  code.replaceAll(/(data:[\w.+/-]+;base64,[\w+/]{24})[\w+/=]{40,}/g, '$1…')
