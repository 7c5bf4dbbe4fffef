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

/** The first expression in a text, its parts one blank apart. */
export function expressionIn(text: string): string | undefined {
  const found = EXPRESSION.exec(text)?.[0].toLowerCase()
  return found
    ?.match(new RegExp(`${NUMBER}|${SIGN}`, 'g'))
    ?.map((part) => SIGNS[part] ?? (NUMBERS.includes(part) ? String(NUMBERS.indexOf(part)) : part))
    .join(' ')
}
