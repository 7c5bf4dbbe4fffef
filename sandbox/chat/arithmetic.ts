/** Arithmetic in words, for tools that take an expression: `four plus four` is `4 + 4`. */
const NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ')
const SIGNS: Readonly<Record<string, string>> = {
  plus: '+',
  '+': '+',
  minus: '-',
  '-': '-',
  times: '*',
  '*': '*',
  'multiplied by': '*',
  'divided by': '/',
  '/': '/',
}
const NUMBER = `(?:\\d{1,15}|${NUMBERS.join('|')})`
const SIGN = '(?:plus|minus|times|multiplied by|divided by|[-+*/])'
const EXPRESSION = new RegExp(`\\b${NUMBER}(?: ?${SIGN} ?${NUMBER}){1,50}\\b`, 'i')

/** The first expression in a text, with one blank between its parts. */
export function expressionIn(text: string): string | undefined {
  const found = EXPRESSION.exec(text)?.[0].toLowerCase()
  return found
    ?.match(new RegExp(`${NUMBER}|${SIGN}`, 'g'))
    ?.map((part) => SIGNS[part] ?? (NUMBERS.includes(part) ? String(NUMBERS.indexOf(part)) : part))
    .join(' ')
}

const QUESTION = /\b(?:what(?:'s|’s| is)|how much is|calculate|compute|solve)\b/i

/** The result of a question about numbers: `What is 2+2?` is 4. */
export function resultIn(text: string): { readonly asked: string; readonly result: number } | undefined {
  const asked = QUESTION.test(text) ? expressionIn(text) : undefined
  if (asked === undefined) return undefined
  const [first = '', ...rest] = asked.split(' ')
  // Products are computed first. The terms are summed at the end.
  const terms = [Number(first)]
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const [sign, number] = [rest[at], Number(rest[at + 1])]
    const last = terms.pop() ?? 0
    if (sign === '*') terms.push(last * number)
    else if (sign === '/') terms.push(last / number)
    else terms.push(last, sign === '-' ? -number : number)
  }
  return { asked, result: terms.reduce((sum, term) => sum + term, 0) }
}
