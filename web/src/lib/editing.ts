/**
 * The `meta` of a change that is made in a form which shows what was there before: it is done once the page shows what
 * was changed. The form would have the old values again for whoever opens it in between.
 */
export const editing = { is: 'editing' }
