-- The vector index holds large scopes alone: each model's vectors say which of them are in it. The index of all
-- of them goes; the service makes the new one beside its work, and compares exactly until then.
DO $$
DECLARE
    space text;
BEGIN
    FOR space IN SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE c.relname = 'memory_vectors' AND c.relkind = 'r' AND n.nspname ~ '^memex_[0-9a-f]{12}$'
    LOOP
        EXECUTE format('ALTER TABLE %I.memory_vectors ADD COLUMN indexed boolean NOT NULL DEFAULT false', space);
        EXECUTE format('DROP INDEX IF EXISTS %I.memory_vectors_hnsw', space);
        EXECUTE format('DROP INDEX IF EXISTS %I.memory_vectors_ivfflat', space);
        EXECUTE format('CREATE INDEX memory_vectors_places ON %I.memory_vectors (indexed, shard)', space);
    END LOOP;
END $$;
