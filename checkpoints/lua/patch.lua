-- Change how long a workflow lives: TTL last asked for, pinned, keep_last. It takes a sequence, as a save does.
-- ARGV 3 ttl ('' leave), 4 pinned ('' leave), 5 keep ('' leave, '-' none), 6 default ttl, 7 event
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
queue_event(ARGV[7], 'g', whole(head.gen), 'q', whole(seq), 'm', whole(now), 'l', ttl, 'p', pinned, 'k', keep, 'x',
  whole(expires))
redis.call('HSET', KEYS[1], 'last', seq, 'ttl', ttl, 'pinned', pinned, 'keep', keep, 'expires', expires)
return { 'patched' }
