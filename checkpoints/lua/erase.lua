#!lua flags=allow-oom
-- Take from Redis what is older than a generation, and leave word that Postgres must have reached it.
-- KEYS 1 head, 2 log, 3 steps, 4 gone · ARGV 1 run, 2 generation, 3 sequence never to be used again

local generation, last = tonumber(ARGV[2]), tonumber(ARGV[3])
local head = redis.call('HMGET', KEYS[1], 'gen', 'last')
if head[1] and tonumber(head[1]) >= generation then return 0 end
if head[2] then last = math.max(last, tonumber(head[2])) end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
local gone = redis.call('GET', KEYS[4])
if not gone or tonumber(string.match(gone, '^(%d+)')) < generation then
  redis.call('SET', KEYS[4], string.format('%.0f:0:%.0f', generation, last), 'EX', 3600)
end
return 1
