-- Change how long a workflow lives: TTL last asked for, pinned, keep_last. It takes a sequence, as a save does.
-- ARGV 3 ttl ('' leave), 4 pinned ('' leave), 5 keep ('' leave, '-' none), 6 default ttl, 7 event uid, 8 account,
--      9 workflow digest, 10 workflow id
-- Answers {'patched'} · {'none'} · {'ask', ...}

local head, ask = confirmed_head()
if ask then return ask end
if not head then return { 'none' } end
local v = redis.call('HMGET', KEYS[1], 'at', 'keep')
local ttl = ARGV[3] ~= '' and ARGV[3] or head.ttl
local pinned = ARGV[4] ~= '' and ARGV[4] or (head.pinned and '1' or '0')
local keep = ARGV[5] == '-' and '' or (ARGV[5] ~= '' and ARGV[5] or v[2] or '')
local expires = tonumber(v[1]) + 1000000 * tonumber(ttl ~= '' and ttl or ARGV[6])
local now = now_us()
local seq = math.max(head.last + 1, now)
redis.call('XADD', KEYS[4], '*', 't', 'patch', 'u', ARGV[7], 'a', ARGV[8], 'd', ARGV[9], 'w', ARGV[10],
  'g', whole(head.gen), 'q', whole(seq), 'm', whole(now), 'l', ttl, 'p', pinned, 'k', keep, 'x', whole(expires))
redis.call('HSET', KEYS[1], 'last', whole(seq), 'ttl', ttl, 'pinned', pinned, 'keep', keep, 'expires', whole(expires))
return { 'patched' }
