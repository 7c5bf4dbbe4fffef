-- How many tokens an offer takes, input and output together: a server of one's own may take fewer than a vendor does.
ALTER TABLE offer ADD COLUMN context_tokens INTEGER;
