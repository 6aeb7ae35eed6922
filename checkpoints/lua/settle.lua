#!lua flags=allow-oom
-- After the commit, and only then: take settled entries off the queue and trim tails to what Postgres holds.
-- KEYS 1 events, then head, log, steps, gone of each workflow
-- ARGV 1 run, 2 steps kept, 3 bytes kept, 4 how many queue entries, those ids, then for each workflow:
--      generation, committed sequence, sequence of the committed head, total, size, started, version

local keep_steps, keep_bytes, count = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
for first = 1, count, 500 do
  redis.call('XDEL', KEYS[1], unpack(ARGV, 4 + first, 4 + math.min(first + 499, count)))
end

local function trim(head_key, log_key, steps_key, head_seq, committed)
  local packed = redis.call('HGETALL', steps_key)
  local held, dropped = {}, {}
  for i = 1, #packed, 2 do
    local field, value = packed[i], packed[i + 1]
    if string.sub(field, 1, 1) == '~' then
      local seq = string.sub(field, 2)
      if tonumber(seq) <= committed then dropped[#dropped + 1] = { seq = seq, field = field } end
    else
      local seq, size = string.match(value, '^(%d+):(%d+)')
      held[#held + 1] = { seq = seq, number = tonumber(seq), size = tonumber(size), field = field }
    end
  end
  table.sort(held, function(a, b) return a.number > b.number end)
  local tail, bytes, trimmed = 0, 0, 0
  for _, e in ipairs(held) do
    local full = tail >= keep_steps or bytes + e.size > keep_bytes
    if full and e.number <= committed and e.number ~= head_seq then
      dropped[#dropped + 1] = e
      trimmed = math.max(trimmed, e.number)
    else
      tail, bytes = tail + 1, bytes + e.size
    end
  end
  for _, e in ipairs(dropped) do
    redis.call('XDEL', log_key, e.seq .. '-0')
    redis.call('HDEL', steps_key, e.field)
  end
  redis.call('HSET', head_key, 'tail', tail, 'bytes', string.format('%.0f', bytes))
  if trimmed > tonumber(redis.call('HGET', head_key, 'trim')) then
    redis.call('HSET', head_key, 'trim', string.format('%.0f', trimmed))
  end
end

-- Redis lost what this batch carried, between its reading and its commit: what it holds since, if anything, may rest
-- on an answer of Postgres from before. All of that is committed, so it goes, and no such answer is taken any more.
local function begin_anew(key, gen, committed, version)
  redis.call('DEL', KEYS[key], KEYS[key + 1], KEYS[key + 2])
  local gone_gen, reach, last = string.match(redis.call('GET', KEYS[key + 3]) or '0:0:0', '^(%d+):(%d+):(%d+)$')
  if tonumber(gone_gen) > gen then return end
  if tonumber(gone_gen) < gen then reach = 0 end
  redis.call('SET', KEYS[key + 3], string.format('%.0f:%.0f:%.0f', gen, math.max(version, tonumber(reach)),
    math.max(committed, tonumber(last))), 'EX', 3600)
end

local at = 4 + count
for key = 2, #KEYS, 4 do
  local gen, committed = ARGV[at + 1], tonumber(ARGV[at + 2])
  local head = redis.call('HMGET', KEYS[key], 'gen', 'last', 'seq', 'tail', 'bytes', 'ver')
  local last = tonumber(head[2])
  if not head[1] or (head[1] == gen and (last < committed or (last == committed and head[3] ~= ARGV[at + 3]))) then
    begin_anew(key, tonumber(gen), committed, tonumber(ARGV[at + 7]))
  elseif head[1] == gen then
    -- Not when retention has taken something since: it has put its own figures there.
    if last == committed and tonumber(ARGV[at + 7]) >= tonumber(head[6] or 0) then
      redis.call('HSET', KEYS[key], 'total', ARGV[at + 4], 'size', ARGV[at + 5], 'started', ARGV[at + 6],
        'ver', ARGV[at + 7])
    end
    if tonumber(head[4]) > keep_steps or tonumber(head[5]) > keep_bytes then
      trim(KEYS[key], KEYS[key + 1], KEYS[key + 2], tonumber(head[3]), committed)
    end
  end
  at = at + 7
end
return count
