-- The hold of a streamed answer grows while it runs: its amount may rise while it is open, and never fall.
DROP TRIGGER hold_is_of_one;
CREATE TRIGGER hold_is_of_one BEFORE UPDATE OF id, account_id, owner, created_at ON hold
  BEGIN SELECT RAISE(ABORT, 'a hold is only extended and resolved'); END;
CREATE TRIGGER hold_only_grows BEFORE UPDATE OF amount ON hold WHEN NEW.amount < OLD.amount
  BEGIN SELECT RAISE(ABORT, 'a hold never shrinks'); END;

-- The output limit that was sent upstream although the client asked for none, per choice, and why.
ALTER TABLE request_record ADD COLUMN output_cap INTEGER;
ALTER TABLE request_record ADD COLUMN output_cap_reason TEXT;
