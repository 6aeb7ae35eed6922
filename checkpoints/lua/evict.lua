#!lua flags=allow-oom
-- Take a workflow from Redis whose every save is in colder tiers, and leave word how far Postgres must have come.
-- KEYS 1 head, 2 log, 3 steps, 4 gone · ARGV 1 run, 2 generation, 3 last sequence in Postgres
-- Answers 1 when nothing of it is left here, 0 when Redis has gone on meanwhile.

local generation, last = tonumber(ARGV[2]), tonumber(ARGV[3])
local head = redis.call('HMGET', KEYS[1], 'gen', 'last')
if not head[1] then return 1 end
if tonumber(head[1]) > generation or (tonumber(head[1]) == generation and tonumber(head[2]) > last) then return 0 end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('SET', KEYS[4], string.format('%.0f:%.0f:%.0f', generation, last, last), 'EX', 3600)
return 1
