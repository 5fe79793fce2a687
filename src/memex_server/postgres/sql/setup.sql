-- Statements with {placeholders} are DDL: the values are names chosen by memex, never input.

-- name: facts
SELECT current_setting('server_version_num')::integer AS server_version,
       current_setting('server_version') AS server_version_text,
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS bypasses_rls,
       current_user AS role,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'vector') AS vector_schema

-- name: lock
SELECT pg_advisory_lock($1)

-- name: create_extension
CREATE EXTENSION IF NOT EXISTS vector

-- name: create_schema
CREATE SCHEMA IF NOT EXISTS memex

-- name: create_ledger
CREATE TABLE IF NOT EXISTS memex.migrations (
    number     integer PRIMARY KEY,
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: applied
SELECT number, name, sha256 FROM memex.migrations ORDER BY number

-- name: record
INSERT INTO memex.migrations (number, name, sha256) VALUES ($1, $2, $3)

-- name: pinned_model
SELECT model_id, dim FROM memex.embedding_model WHERE slot = 'current'

-- name: pin_model
INSERT INTO memex.embedding_model (slot, model_id, dim) VALUES ('current', $1, $2)

-- name: role_exists
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'memex_service')

-- name: create_role
CREATE ROLE memex_service NOLOGIN NOSUPERUSER NOBYPASSRLS

-- name: grant_schema
GRANT USAGE ON SCHEMA memex TO memex_service

-- name: grant_tables
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memex TO memex_service

-- name: try_lock
SELECT pg_try_advisory_lock($1)

-- name: set_lock_timeout
SELECT set_config('lock_timeout', $1, false)

-- name: set_path
SELECT set_config('search_path', $1, false)

-- name: all_tenants
-- For maintenance of the whole database.
SELECT set_config('memex.tenant', '*', false)

-- name: no_wait_for_disk
SELECT set_config('synchronous_commit', 'off', false)
