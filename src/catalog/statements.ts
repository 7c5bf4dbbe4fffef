import { statement } from '../store/statement.ts'

export const upsertProvider = statement(
  `INSERT INTO provider
     (id, preset, base_url, allow_private, secret, hang_up, concurrent_requests, egress, sealed_options, declared,
      created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET preset = excluded.preset, base_url = excluded.base_url,
     allow_private = excluded.allow_private, secret = excluded.secret, hang_up = excluded.hang_up,
     concurrent_requests = excluded.concurrent_requests, egress = excluded.egress,
     sealed_options = excluded.sealed_options, declared = excluded.declared, removed_at = NULL`,
)
/** A condition: the row is as it was read. A sealed value is never sealed the same way twice. */
export const isSameProvider = statement(
  `UPDATE provider SET preset = preset WHERE id = ?1 AND preset = ?2 AND base_url = ?3 AND allow_private = ?4
     AND secret IS NOT DISTINCT FROM ?5 AND concurrent_requests IS NOT DISTINCT FROM ?6
     AND egress IS NOT DISTINCT FROM ?7 AND sealed_options IS NOT DISTINCT FROM ?8 AND removed_at IS NULL`,
)
export const withdrawProvider = statement(
  'UPDATE provider SET removed_at = ?, secret = NULL, sealed_options = NULL WHERE id = ?',
)
export const withdrawOffersOfProvider = statement(
  'UPDATE offer SET removed_at = ? WHERE provider_id = ? AND removed_at IS NULL',
)
export const withdrawDeclaredProviders = withdrawDeclared('provider')
export const upsertModel = statement(
  `INSERT INTO model (id, owned_by, kind, limits, declared, created_at) VALUES (?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET owned_by = excluded.owned_by, kind = excluded.kind, limits = excluded.limits,
     declared = excluded.declared, removed_at = NULL`,
)
export const withdrawModel = statement('UPDATE model SET removed_at = ? WHERE id = ?')
export const withdrawDeclaredModels = withdrawDeclared('model')
export const upsertOffer = statement(
  `INSERT INTO offer (id, model_id, provider_id, upstream_model, priority, weight, context_tokens)
   VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET priority = excluded.priority, weight = excluded.weight,
     context_tokens = excluded.context_tokens, removed_at = NULL`,
)
export const withdrawOffers = statement('UPDATE offer SET removed_at = ? WHERE model_id = ? AND removed_at IS NULL')
export const insertCard = statement('INSERT INTO price_card (subject, subject_id, effective_from) VALUES (?, ?, ?)')

/** The price of an account is a card too. Its factor or its prices count. Without both, it ends the price before. */
export const insertAccountCard = statement(
  "INSERT INTO price_card (subject, subject_id, effective_from, factor, kind) VALUES ('account', ?, ?, ?, ?)",
)

/** A condition: a card is the newest of a model or an offer. 0: it has none. The row of the model is locked before. */
export const isNewestCard = {
  model: isNewestCardOf('model', 'owned_by'),
  offer: isNewestCardOf('offer', 'weight'),
  /** The row of the account is locked before. */
  account: statement(
    `UPDATE account SET name = name WHERE id = ?1 AND ?2 =
       (SELECT coalesce(max(id), 0) FROM price_card WHERE subject = 'account' AND subject_id = ?3)`,
  ),
}

export const insertPrice = statement(
  `INSERT INTO price (card_id, tier, unit, nano_per_million)
   SELECT max(id), ?3, ?4, CAST(?5 AS bigint) FROM price_card WHERE subject = ?1 AND subject_id = ?2`,
)

export const upsertAlias = statement(
  `INSERT INTO alias (id, model_id, declared) VALUES (?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET model_id = excluded.model_id, declared = excluded.declared`,
)
export const deleteAlias = statement('DELETE FROM alias WHERE id = ?')
export const deleteDeclaredAliases = statement('DELETE FROM alias WHERE declared = 1')

export const drainProvider = statement('UPDATE provider SET drained_at = ? WHERE id = ?')

export const selectProviders = 'SELECT * FROM provider WHERE removed_at IS NULL ORDER BY id'
export const selectModels = 'SELECT * FROM model WHERE removed_at IS NULL ORDER BY created_at, id'
export const selectAliases = 'SELECT id, model_id, declared FROM alias ORDER BY id'
export const selectOffers = `SELECT offer.*, provider.drained_at FROM offer JOIN provider ON provider.id = offer.provider_id
  WHERE offer.removed_at IS NULL AND provider.removed_at IS NULL ORDER BY offer.priority, offer.id`
/** The newest card is the current one. Instances may differ in their clocks, so its date does not decide. */
export const selectCurrentPrices = `SELECT card.id, card.subject, card.subject_id, card.effective_from,
    price.tier, price.unit, price.nano_per_million
  FROM price_card AS card JOIN price ON price.card_id = card.id
  WHERE card.subject IN ('model', 'offer') AND card.id = (SELECT id FROM price_card AS newest
    WHERE newest.subject = card.subject AND newest.subject_id = card.subject_id ORDER BY newest.id DESC LIMIT 1)`
const accountCards = `SELECT card.id, card.subject, card.subject_id, card.effective_from, card.factor, card.kind,
    price.tier, price.unit, price.nano_per_million
  FROM price_card AS card LEFT JOIN price ON price.card_id = card.id WHERE card.subject = 'account'`
/** The newest price of each model in each account, and of all models in each. */
export const selectAccountPrices = `${accountCards} AND card.id = (SELECT id FROM price_card AS newest
    WHERE newest.subject = 'account' AND newest.subject_id = card.subject_id ORDER BY newest.id DESC LIMIT 1)`
/** All prices that one account ever had, newest first. Its subjects lie between two texts. */
export const selectAccountPriceHistory = `${accountCards} AND card.subject_id >= ? AND card.subject_id < ?
  ORDER BY card.id DESC`
/** All cards that a model and its offers ever had, newest first. */
export const selectPriceHistory = `SELECT card.id, card.subject, card.subject_id, card.effective_from,
    price.tier, price.unit, price.nano_per_million
  FROM price_card AS card JOIN price ON price.card_id = card.id
  WHERE (card.subject = 'model' AND card.subject_id = ?1)
    OR (card.subject = 'offer' AND card.subject_id IN (SELECT id FROM offer WHERE model_id = ?1))
  ORDER BY card.effective_from DESC, card.id DESC`
/** One card, current or not. */
export const selectCard = `SELECT card.id, card.subject, card.subject_id, card.effective_from,
    price.tier, price.unit, price.nano_per_million
  FROM price_card AS card JOIN price ON price.card_id = card.id WHERE card.id = ?`

function withdrawDeclared(table: 'model' | 'provider') {
  const text = `UPDATE ${table} SET removed_at = ? WHERE declared = 1 AND removed_at IS NULL AND id NOT IN`
  return statement({
    sqlite: `${text} (SELECT value FROM json_each(?))`,
    postgres: `${text} (SELECT jsonb_array_elements_text(?::text::jsonb))`,
  })
}

function isNewestCardOf(table: 'model' | 'offer', column: string) {
  return statement(
    `UPDATE ${table} SET ${column} = ${column} WHERE id = ?1 AND ?2 =
       (SELECT coalesce(max(id), 0) FROM price_card WHERE subject = '${table}' AND subject_id = ?1)`,
  )
}
