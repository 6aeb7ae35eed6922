#!lua flags=allow-oom
-- Forgets a key's record, and keeps everyone from caching one for a minute: longer than any read of Postgres takes.
-- KEYS  record, dead

redis.call('SET', KEYS[2], '1', 'PX', 60000)
redis.call('DEL', KEYS[1])
