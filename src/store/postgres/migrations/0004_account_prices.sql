-- The price of an account is a card too. Its subject is the account, a slash, and a model or nothing for all models. It
-- has a factor in millionths, or prices of its own and the kind of model that they are for. Without both it ends the
-- price before.
ALTER TABLE price_card DROP CONSTRAINT price_card_subject_check;
ALTER TABLE price_card ADD CONSTRAINT price_card_subject_check CHECK (subject IN ('model', 'offer', 'account'));
ALTER TABLE price_card ADD COLUMN factor bigint CHECK (factor IS NULL OR (factor > 0 AND subject = 'account'));
ALTER TABLE price_card ADD COLUMN kind text COLLATE "C";
-- The factor of the account, by which the prices of the card were charged. NULL: the card's own prices.
ALTER TABLE request_record ADD COLUMN price_factor bigint;
