/** The number of edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, i) => i)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped))
    }
  }
  return at(a.length, b.length)
}

/** The known word that was probably meant. Undefined if none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const begun = known.filter((name) => word.length >= 3 && name.startsWith(word))
  if (begun.length === 1) return begun[0]
  const editsMax = word.length <= 3 ? 1 : word.length <= 6 ? 2 : 3
  // People rarely mistype the first letter. If it differs, only one edit is allowed.
  const near = known
    .map((name) => ({ name, edits: distance(word, name) }))
    .filter(({ name, edits }) => edits <= (name[0] === word[0] ? editsMax : 1))
  return near.toSorted((a, b) => a.edits - b.edits)[0]?.name
}

/** `; did you mean …?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const meant = nearest(word, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}
