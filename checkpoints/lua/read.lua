-- Read the head and the entries of the tail in a range of steps; one trip, nothing written but an answered replay.
-- ARGV 3 from, 4 to, 5 order (asc|desc), 6 most entries, 7 most bytes, 8 event ('' for none)
-- Answers {'tail', head, entries, complete, more} · {'none'} · {'ask', ...}. `complete`: no step of the workflow is
-- missing in the tail, so that nothing colder need be asked; only then is the replay written down.

local head, ask = confirmed_head()
if ask then return ask end
if not head then return { 'none' } end
local from, to, most, room = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[7])
local complete = head.tail == head.total
local steps = {}
for _, step in ipairs(redis.call('HKEYS', KEYS[3])) do
  local number = tonumber(step)
  if number and number >= from and number <= to then steps[#steps + 1] = number end
end
if ARGV[5] == 'asc' then table.sort(steps) else table.sort(steps, function(a, b) return a > b end) end
local entries, more = {}, 0
for _, step in ipairs(steps) do
  local held = tail_step(whole(step))
  if #entries > 0 and (#entries >= most or held.size > room) then
    more = 1
    break
  end
  local entry = entry_of(held.seq)
  room = room - held.size - #entry[12]
  entries[#entries + 1] = { whole(held.seq), entry }
end
if complete and ARGV[8] ~= '' then
  queue_event(ARGV[8], 'g', whole(head.gen), 'q', 0, 'n', #entries, 'm', whole(now_us()))
end
return { 'tail', redis.call('HGETALL', KEYS[1]), entries, complete and 1 or 0, more }
