/** Of whatever is answered in one piece. */
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
/** Of events. */
export const EVENTS_TYPE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
