/** Parses the events of a stream until `[DONE]` or its end. `onPart` is called for every part, comments included. */
export async function* eventsOf(
  response: Response,
  onPart?: () => void,
): AsyncGenerator<Record<string, unknown>, void> {
  if (!response.body) return
  let rest = ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onPart?.()
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const data = /^data: ?(.*?)\r?$/.exec(line)?.[1]
        if (data === '[DONE]') return
        if (data) yield JSON.parse(data) as Record<string, unknown>
      }
    }
  } finally {
    // A reader that stops early releases the connection. A broken connection cannot be released.
    await reader.cancel().catch(() => undefined)
  }
}
