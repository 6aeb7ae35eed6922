#!lua flags=allow-oom
-- Take a workflow from Redis whose every save is in colder tiers, and leave word how far Postgres must have come: what
-- was read there before this version was committed is not installed here any more.
-- KEYS 1 head, 2 log, 3 steps, 4 gone · ARGV 1 run, 2 generation, 3 last sequence in Postgres, 4 version
-- Answers 1 when nothing of it is left here, 0 when Redis has gone on meanwhile.

local generation, last = tonumber(ARGV[2]), tonumber(ARGV[3])
local head = redis.call('HMGET', KEYS[1], 'gen', 'last')
if head[1] and (tonumber(head[1]) > generation or (tonumber(head[1]) == generation and tonumber(head[2]) > last)) then
  return 0
end
local gone = redis.call('GET', KEYS[4])
if gone and tonumber(string.match(gone, '^%d+')) > generation then return 1 end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
redis.call('SET', KEYS[4], string.format('%.0f:%s:%.0f', generation, ARGV[4], last), 'EX', 3600)
return 1
