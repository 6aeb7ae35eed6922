#!lua flags=allow-oom
-- Take steps below a number from the tail, and say what is left; only while Redis holds nothing Postgres does not.
-- KEYS 1 head, 2 log, 3 steps · ARGV 1 run, 2 generation, 3 last sequence, 4 first step kept, 5 total, 6 size, 7 version
-- Answers 1 when it is so, or when the workflow is not here at all.

local head = redis.call('HMGET', KEYS[1], 'gen', 'last', 'trim')
if not head[1] then return 1 end
if head[1] ~= ARGV[2] or tonumber(head[2]) ~= tonumber(ARGV[3]) then return 0 end
local trim, first = tonumber(head[3]), tonumber(ARGV[4])
for _, step in ipairs(redis.call('HKEYS', KEYS[3])) do
  local number = tonumber(step)
  if number and number < first then
    local seq = string.match(redis.call('HGET', KEYS[3], step), '^(%d+)')
    redis.call('XDEL', KEYS[2], seq .. '-0')
    redis.call('HDEL', KEYS[3], step)
    redis.call('HINCRBY', KEYS[1], 'tail', -1)
    trim = math.max(trim, tonumber(seq))
  end
end
redis.call('HSET', KEYS[1], 'total', ARGV[5], 'size', ARGV[6], 'ver', ARGV[7], 'trim', string.format('%.0f', trim))
return 1
