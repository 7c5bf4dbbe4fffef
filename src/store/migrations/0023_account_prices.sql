-- The price of an account is a card too. Its subject is the account, a slash, and a model or nothing for all models. It
-- has a factor in millionths, or prices of its own and the kind of model that they are for. Without both it ends the
-- price before. A column gets another CHECK by being made anew.
DROP INDEX price_card_by_subject;
ALTER TABLE price_card ADD COLUMN new_subject TEXT NOT NULL DEFAULT 'model'
  CHECK (new_subject IN ('model', 'offer', 'account'));
UPDATE price_card SET new_subject = subject;
ALTER TABLE price_card DROP COLUMN subject;
ALTER TABLE price_card RENAME COLUMN new_subject TO subject;
CREATE INDEX price_card_by_subject ON price_card (subject, subject_id, effective_from);
ALTER TABLE price_card ADD COLUMN factor INTEGER CHECK (factor IS NULL OR (factor > 0 AND subject = 'account'));
ALTER TABLE price_card ADD COLUMN kind TEXT;
-- The factor of the account, by which the prices of the card were charged. NULL: the card's own prices.
ALTER TABLE request_record ADD COLUMN price_factor INTEGER;
