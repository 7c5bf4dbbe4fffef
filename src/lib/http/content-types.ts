/** Of whatever is answered in one piece. */
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
