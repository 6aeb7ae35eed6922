#!lua
-- What the scripts of a workflow share: its head, and when Redis alone must not answer.
-- KEYS 1 head, 2 log, 3 steps, 4 events, 5 gone, 6 intake · ARGV 1 run, 2 known, then the script's own.
-- A head is trusted in the server run it was confirmed in. Otherwise the script writes nothing and answers
-- {'ask', why, basis}; the caller looks in Postgres and calls again with `known`: what Postgres holds, and the basis
-- (what Redis held when it was asked), which must still be so.

local run = ARGV[1]
local known, installed = nil, false
if ARGV[2] ~= '' then
  -- Eight digits, that many bytes of MessagePack, then the head's content as it is packed everywhere.
  local size = tonumber(string.sub(ARGV[2], 1, 8))
  known = cmsgpack.unpack(string.sub(ARGV[2], 9, 8 + size))
  local content = string.sub(ARGV[2], 9 + size)
  if content ~= '' then
    local env, meta, start = string.match(content, '^(%d+):(%d+):()')
    local middle, finish = start + env, start + env + meta
    known.head.env = string.sub(content, start, middle - 1)
    known.head.meta = string.sub(content, middle, finish - 1)
    known.head.state = string.sub(content, finish)
  end
end

-- In text only: as an argument, or in an answer, redis writes a number out by itself, and sooner.
local function whole(number) return string.format('%.0f', number) end

-- An event is one field, name and value in turn: each field of an entry costs as much as many bytes of one. `begun` is
-- what the caller knows of it.
local function queue_event(begun, ...)
  redis.call('XADD', KEYS[4], '*', 'e', table.concat({ begun, ... }, '\31'))
end

local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

local function load_head()
  local v = redis.call('HMGET', KEYS[1], 'run', 'gen', 'last', 'seq', 'step', 'digest', 'total', 'size', 'ttl',
    'trim', 'tail', 'pinned', 'bytes')
  if not v[2] then return nil end
  return { run = v[1], name = v[2] .. ':' .. v[4], gen = tonumber(v[2]), last = tonumber(v[3]), seq = tonumber(v[4]),
    step = tonumber(v[5]), digest = v[6], total = tonumber(v[7]), size = tonumber(v[8]), ttl = v[9] or '',
    trim = tonumber(v[10]), tail = tonumber(v[11]), pinned = v[12] == '1', bytes = tonumber(v[13]) }
end

local function etag_of(gen, seq, digest) return whole(gen) .. '-' .. whole(seq) .. '-' .. string.sub(digest, 1, 16) end

-- One step of the tail: sequence, bytes of state, content digest. Nil when the tail does not hold it.
local function tail_step(step)
  local packed = redis.call('HGET', KEYS[3], step)
  if not packed then return nil end
  local seq, size, digest = string.match(packed, '^(%d+):(%d+):(%x+)$')
  return { seq = tonumber(seq), size = tonumber(size), digest = digest }
end

local function entry_of(seq)
  local found = redis.call('XRANGE', KEYS[2], whole(seq), whole(seq))[1]
  return found and found[2] or nil
end

local function add_entry(e)
  redis.call('XADD', KEYS[2], whole(e.seq) .. '-0', 'step', whole(e.step), 'at', whole(e.at), 'digest', e.digest,
    'guard', e.guard, 'env', e.env, 'meta', e.meta, 'state', e.state)
  redis.call('HSET', KEYS[3], whole(e.step), whole(e.seq) .. ':' .. #e.state .. ':' .. e.digest)
end

-- Generation that an answer of Postgres must reach, the version of the row in it, and the last sequence ever given.
local function gone()
  local packed = redis.call('GET', KEYS[5])
  if not packed then return 0, 0, 0 end
  local gen, reach, last = string.match(packed, '^(%d+):(%d+):(%d+)$')
  return tonumber(gen), tonumber(reach), tonumber(last)
end

local function install(head)
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
  local h = known.head
  if not h then return nil end
  redis.call('HSET', KEYS[1], 'run', run, 'gen', known.gen, 'last', whole(known.last), 'seq', whole(h.seq),
    'step', whole(h.step), 'digest', h.digest, 'guard', h.guard, 'status', h.status, 'total', h.total,
    'size', whole(h.size), 'started', whole(h.started), 'at', whole(h.at), 'ttl', h.ttl, 'expires', whole(h.expires),
    'pinned', h.pinned, 'keep', h.keep, 'trim', whole(known.last), 'ver', whole(known.ver), 'tail', h.state and 1 or 0,
    'bytes', h.state and #h.state or 0)
  if h.state then
    add_entry({ seq = h.seq, step = h.step, at = h.saved, digest = h.digest, guard = h.guard, env = h.env,
      meta = h.meta, state = h.state })
  end
  return load_head()
end

-- The head, or nil for a workflow without one; then the answer to give instead, when Postgres must be asked first.
-- Last come the generation and the sequence that a first save here starts from.
local function confirmed_head()
  local head = load_head()
  if head and head.run == run then return head, nil, head.gen, head.last end
  local basis = head and (whole(head.gen) .. ':' .. whole(head.last)) or '-'
  if not known or known.basis ~= basis then return nil, { 'ask', 'head', basis } end
  local gen, reach, last = gone()
  if known.gen < gen or (known.gen == gen and known.ver < reach) then return nil, { 'ask', 'head', basis } end
  if head and (known.gen < head.gen or (known.gen == head.gen and known.last <= head.last)) then
    redis.call('HSET', KEYS[1], 'run', run)
  else
    installed = known.head ~= nil
    head = install(head)
  end
  return head, nil, known.gen, math.max(known.last, last, head and head.last or 0)
end
