-- How requests leave for a provider, as JSON: the address of its proxy, and certificate authorities of its own.
ALTER TABLE provider ADD COLUMN egress text COLLATE "C";
-- What only the provider may learn beside its key, sealed: further keys, headers, parameters, the proxy's password.
ALTER TABLE provider ADD COLUMN sealed_options bytea;
