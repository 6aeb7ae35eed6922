-- Save one checkpoint: the rules in their order (replay, guard, step), then entry, head and event as one write.
-- ARGV 3 step, 4 digest, 5 guard, 6 state, 7 metadata, 8 envelope, 9 status, 10 ttl, 11 default ttl,
--      12 the head whose state the caller has, ? when it has none, empty when it needs none,
--      13 event
-- Answers {'saved', etag, at, gen, seq, how, previous, pace} (how is next where the caller has the state before; pace is
--         what intake asks the caller to wait, in microseconds)
--       · {'replay', etag, at, seq, size} · {'conflict', what, etag, step}
--       · {'compare', gen, seq, entry} · {'busy'} · {'ask', ...}

local step, digest, guard, state = tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local head, ask, gen, last = confirmed_head()
if ask then return ask end

-- What is known of this step: the revision that stands there, and whether its content is the same.
local found
if head and step <= head.step then
  local held = tail_step(whole(step))
  if held then
    found = held
    if held.digest == digest then
      found.same = true
    elseif known and known.compared == held.seq then
      found.same = known.same
    else
      return { 'compare', whole(head.gen), whole(held.seq), entry_of(held.seq) }
    end
  elseif head.tail < head.total then
    if not known or known.trim ~= head.trim or known.gen ~= head.gen then
      return { 'ask', 'step', whole(head.trim) }
    end
    found = known.step
  end
end

if found and found.same then
  local written_under, at, size = found.guard, found.at, found.size
  if not written_under then
    local entry = entry_of(found.seq)
    at, written_under = entry[4], entry[8]
  end
  if guard == '' or guard == written_under then
    return { 'replay', etag_of(head.gen, found.seq, found.digest), whole(tonumber(at)), whole(found.seq), size }
  end
end

local first = string.sub(guard, 1, 1)
if first ~= '' then
  local head_etag = head and etag_of(head.gen, head.seq, head.digest) or ''
  local refused = (first == '!' and head) or (first == '*' and not head)
    or (first == '=' and string.sub(guard, 2) ~= head_etag)
  if refused then return { 'conflict', 'guard', head_etag, head and whole(head.step) or '' } end
end

local how
if not head or step > head.step then
  how = 'append'
elseif step == head.step and first == '=' then
  how = 'replace'
elseif not found and guard == '' then
  how = 'late'
else
  return { 'conflict', 'step', found and etag_of(head.gen, found.seq, found.digest) or '', whole(step) }
end

local now = now_us()
local intake = redis.call('HMGET', KEYS[6], 'alive', 'behind', 'pace')
local pace = 0
if intake[1] and now - tonumber(intake[1]) < 10000000 then
  local behind = tonumber(intake[2] or 0)
  if behind > 0 and now - behind > 5000000 then return { 'busy' } end
  pace = tonumber(intake[3] or 0)
end

local previous = ''
if how == 'append' and head and ARGV[12] ~= '' then
  if ARGV[12] == head.name then
    how = 'next'
  else
    local entry = entry_of(head.seq)
    if entry then previous = entry[14] else how = 'above' end
  end
end

local seq = math.max(last + 1, now)
local size = #state
local seq_text, gen_text, step_text = whole(seq), whole(gen), ARGV[3]
redis.call('XADD', KEYS[2], seq_text .. '-0', 'step', step_text, 'at', now, 'digest', digest,
  'guard', guard, 'env', ARGV[8], 'meta', ARGV[7], 'state', state)
local tail, bytes, total, all = 1, size, 1, size
if head then
  tail, bytes, total, all = head.tail + 1, head.bytes + size, head.total + 1, head.size + size
  if how == 'replace' then
    -- The revision it replaces stays in the log until Postgres has the newer one.
    local old = found
    if redis.call('HEXISTS', KEYS[3], whole(step)) == 1 then
      redis.call('HSET', KEYS[3], '~' .. whole(old.seq), old.size)
      tail = tail - 1
    end
    total, all = head.total, all - old.size
  end
end
redis.call('HSET', KEYS[3], step_text, seq_text .. ':' .. size .. ':' .. digest)

local ttl = ARGV[10] ~= '' and ARGV[10] or (head and head.ttl or '')
local expires = now + 1000000 * tonumber(ttl ~= '' and ttl or ARGV[11])
if not head then
  redis.call('HSET', KEYS[1], 'run', run, 'gen', gen_text, 'started', now, 'pinned', 0, 'keep', '', 'trim', 0, 'ver', 0)
end
local moved = { 'last', seq_text, 'total', total, 'size', all, 'at', now, 'ttl', ttl, 'expires', expires, 'tail', tail,
  'bytes', bytes }
if how == 'late' then
  redis.call('HSET', KEYS[1], unpack(moved))
else
  redis.call('HSET', KEYS[1], 'seq', seq_text, 'step', step_text, 'digest', digest, 'guard', guard,
    'status', ARGV[9], unpack(moved))
end
queue_event(ARGV[13], 'g', gen_text, 'q', seq_text, 's', step_text, 'm', whole(now), 'z', size, 'l', ttl, 'x',
  whole(expires))
return { 'saved', gen_text .. '-' .. seq_text .. '-' .. string.sub(digest, 1, 16), now, gen, seq, how, previous, pace }
