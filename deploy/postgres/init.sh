#!/bin/sh
# Runs once, on an empty volume: a database that an ordinary role owns, with the one extension in place.
set -eu

psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$MEMEX_DB_PASSWORD" --username="${POSTGRES_USER:-postgres}" <<'SQL'
CREATE ROLE memex LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE memex OWNER memex;
\connect memex
CREATE EXTENSION IF NOT EXISTS vector;
SQL
