-- A management key may no more than whoever made it. Those made so far learned no maker; the audit log knows the people
-- among them. What a command made has none, and ends when it is revoked.
UPDATE management_key SET created_by = (
  SELECT actor_id FROM audit
  WHERE action = 'management_key.create' AND actor_kind = 'user' AND subject = management_key.id
) WHERE created_by IS NULL;
