/** The SQL of stored turns. */
import { eachDatabase, isListed, isPlaced, placeColumn } from '../store/sql.ts'
import { statement, type Sql } from '../store/statement.ts'
import { CHAIN_BYTES_MAX, CHAIN_TURNS_MAX } from './turns.ts'

/** The stored input of a turn that failed without a charge. What is not paid for is not stored. */
export const UNKEPT = ''
/** A turn can be megabytes. A step of the sweep must not delay requests. */
const SWEEP_TURNS = 50

export const putTurn = statement(`INSERT INTO response
  (account_id, id, parent_id, state, head, standing, input, output, trace, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account_id, id) DO UPDATE SET state = excluded.state, head = excluded.head, standing = excluded.standing,
    input = excluded.input, output = excluded.output, trace = excluded.trace`)
/** Ends a running turn. */
export const endTurn = statement(`UPDATE response
  SET state = ?3, head = ?4, standing = ?5, input = ?6, output = ?7, trace = ?8
  WHERE account_id = ?1 AND id = ?2 AND state = 'running'`)
export const dropTurn = statement('DELETE FROM response WHERE account_id = ? AND id = ? AND bytes = ?')
export const failTurn = statement(
  `UPDATE response SET state = 'ended', standing = ?, input = '${UNKEPT}' WHERE id = ? AND state = 'running'`,
)
export const sweepTurns = statement(
  eachDatabase((database) => `DELETE FROM response WHERE created_at < ? AND ${isPlaced(database, '?')}`),
)
export const BYTES_OF_ACCOUNT = 'SELECT CAST(sum(bytes) AS bigint) AS bytes FROM response WHERE account_id = ?'
/** The hold of a turn's request. Its owner makes the turn. */
export const HOLD_OF_TURN = "'req_' || substr(r.id, 6)"
export const RUN_BY = `SELECT h.owner FROM response r JOIN hold h ON h.id = ${HOLD_OF_TURN} AND h.state = 'open'
  WHERE r.account_id = ? AND r.id = ? AND r.state = 'running'`
/** The holds of a list whose requests have not ended. */
export const OPEN_HOLDS = eachDatabase(
  (database) => `SELECT id FROM hold WHERE ${isListed(database, 'id', '?')} AND state = 'open'`,
)
export const STALE_TURNS = eachDatabase(
  (database) =>
    `SELECT ${placeColumn(database)}, account_id, bytes FROM response WHERE created_at < ? LIMIT ${SWEEP_TURNS}`,
)

/** Follows the key turn by turn, so the cost depends on the length of the conversation, not on the number of turns. */
export const CHAIN_SQL = {
  sqlite: `WITH RECURSIVE chain (at, parent_id, depth, bytes) AS (
    SELECT rowid, parent_id, 0, octet_length(input) + octet_length(output) FROM response
      WHERE account_id = ?1 AND id = ?2 AND created_at >= ?3
    UNION ALL
    SELECT turn.rowid, turn.parent_id, chain.depth + 1,
        chain.bytes + octet_length(turn.input) + octet_length(turn.output)
      FROM chain CROSS JOIN response AS turn ON turn.account_id = ?1 AND turn.id = chain.parent_id
      WHERE turn.created_at >= ?3 AND chain.bytes <= ${CHAIN_BYTES_MAX}
        AND chain.depth < ${CHAIN_TURNS_MAX})
  SELECT chain.bytes, turn.id, turn.parent_id, turn.state, turn.input, turn.output
    FROM chain CROSS JOIN response AS turn ON turn.rowid = chain.at ORDER BY chain.depth DESC`,
  postgres: `WITH RECURSIVE chain (id, parent_id, depth, bytes) AS (
    SELECT id, parent_id, 0, CAST(octet_length(input) + octet_length(output) AS bigint) FROM response
      WHERE account_id = ?1 AND id = ?2 AND created_at >= ?3
    UNION ALL
    SELECT turn.id, turn.parent_id, chain.depth + 1,
        chain.bytes + octet_length(turn.input) + octet_length(turn.output)
      FROM chain JOIN response AS turn ON turn.account_id = ?1 AND turn.id = chain.parent_id
      WHERE turn.created_at >= ?3 AND chain.bytes <= ${CHAIN_BYTES_MAX}
        AND chain.depth < ${CHAIN_TURNS_MAX})
  SELECT chain.bytes, turn.id, turn.parent_id, turn.state, turn.input, turn.output
    FROM chain JOIN response AS turn ON turn.account_id = ?1 AND turn.id = chain.id ORDER BY chain.depth DESC`,
}

const INPUT = `CASE WHEN input = '${UNKEPT}' THEN '[]' ELSE input END`
const OF_TURN = 'WHERE account_id = ?1 AND response.id = ?2 AND created_at >= ?3'
/** PostgreSQL reads no member of a JSON object that has one of these escapes: zero, and half a pair of surrogates. */
const HIGH = String.raw`\\u[dD][89aAbB][0-9a-fA-F]{2}`
const LOW = String.raw`\\u[dD][c-fC-F][0-9a-fA-F]{2}`
const UNREAD = String.raw`\\u0000|${HIGH}(?!${LOW})|(?<!${HIGH})${LOW}`
const READABLE = `CASE WHEN strpos(CAST(item.value AS text), '\\u') = 0 THEN item.value
  ELSE CAST(regexp_replace(CAST(item.value AS text), '${UNREAD}', '\\\\ufffd', 'g') AS json) END`
/**
 * The input items of a turn: the place of each, its id as JSON, and its text. The type jsonb would change the text.
 * SQLite returns them in their order without being asked, and would sort them once more.
 */
const ITEMS = {
  sqlite: {
    from: `FROM response CROSS JOIN json_each(${INPUT}) AS item ${OF_TURN}`,
    at: 'item.key',
    id: "item.value -> 'id'",
    json: 'item.value',
    inOrder: '',
  },
  postgres: {
    from: `FROM response
      CROSS JOIN json_array_elements(CAST(${INPUT} AS json)) WITH ORDINALITY AS item (value, key) ${OF_TURN}`,
    at: 'item.key',
    id: `CAST((${READABLE}) -> 'id' AS text)`,
    json: 'CAST(item.value AS text)',
    inOrder: 'ORDER BY item.key',
  },
}
const sizesSql = (beyond: '>' | '<', order: 'ASC' | 'DESC'): Sql =>
  eachDatabase((database) => {
    const { from, at, json } = ITEMS[database]
    return `SELECT ${at} AS at, octet_length(${json}) AS bytes ${from}
      AND (CAST(?4 AS bigint) IS NULL OR ${at} ${beyond} CAST(?4 AS bigint)) ORDER BY ${at} ${order} LIMIT ?5`
  })
export const ITEM_SIZES_SQL = { asc: sizesSql('>', 'ASC'), desc: sizesSql('<', 'DESC') }
export const ITEMS_SQL = eachDatabase((database) => {
  const { from, at, id, json, inOrder } = ITEMS[database]
  return `SELECT ${id} AS id, ${json} AS json ${from} AND ${at} BETWEEN ?4 AND ?5 ${inOrder}`
})

/** The items that may have an id: those that write it as `JSON.stringify` does, and those with an escape in theirs. */
export const NAMED_ITEMS_SQL = eachDatabase((database) => {
  const { from, at, id, inOrder } = ITEMS[database]
  const mayBeNamed = `(${id} = ?4 OR replace(${id}, '\\', '') <> ${id})`
  return `SELECT ${at} AS at, ${id} AS id ${from} AND ${mayBeNamed} ${inOrder}`
})

const ofTurns = (columns: string): Sql =>
  eachDatabase(
    (database) =>
      `SELECT ${columns} FROM response WHERE account_id = ? AND ${isListed(database, 'id', '?')} AND created_at >= ?`,
  )
/** The turns of an account that a list names. */
export const SIZE_OF_TURNS_SQL = ofTurns('sum(octet_length(input) + octet_length(output)) AS bytes')
export const TURNS_SQL = ofTurns('id, state, input, output')
