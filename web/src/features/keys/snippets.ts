/** A first request in common tools. */
export const tools = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'env', label: 'env' },
] as const
export type Tool = (typeof tools)[number]['value']

type Facts = { readonly baseUrl: string; readonly model: string; readonly key: string }

export function snippetOf(tool: Tool, { baseUrl, model, key }: Facts): string {
  switch (tool) {
    case 'curl':
      return [
        `curl ${baseUrl}/chat/completions \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        '  -H "Content-Type: application/json" \\',
        `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
      ].join('\n')
    case 'python':
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${baseUrl}", api_key="${key}")`,
        'answer = client.chat.completions.create(',
        `    model="${model}", messages=[{"role": "user", "content": "Hello"}]`,
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n')
    case 'typescript':
      return [
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: '${baseUrl}', apiKey: '${key}' })`,
        'const answer = await client.chat.completions.create({',
        `  model: '${model}',`,
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '})',
        'console.log(answer.choices[0]?.message.content)',
      ].join('\n')
    case 'env':
      return [`OPENAI_BASE_URL=${baseUrl}`, `OPENAI_API_KEY=${key}`].join('\n')
  }
}
