#!lua flags=allow-oom
-- Counts calls of one key in its sliding window and lends some in advance, or asks for the key's record.
-- KEYS  record, rate, dead: the cached record, the window, the tombstone
-- ARGV  run_id, calls, wanted, returned: size, unused, lent_at; then the record's fields when Postgres was asked:
--       account_id, key_id, scopes, status, limit, window_ms, expires_at_ms (0: never)
-- reply {'ask'} no record to go by: read Postgres and call again with what it says
--       {'expired'} nothing was counted
--       {'inactive', …} neither, and the rest as below: nothing is granted
--       {'counted', granted, remaining, reset_ms, retry_ms, lent, now_ms, expires_in_ms (-1: never),
--        old: 1 when it is time to read Postgres again, account_id, key_id, scopes, limit}
--
-- The window is a hash of some 60 buckets "calls:time of the last one". A bucket counts in full until its last call
-- is a window old, so no window ever holds more than the limit. What is lent is charged to the end of its second.
-- allow-oom: what is written here is small and bounded, and a full store must still answer reads.

-- Past FRESH_MS a record goes on, and whoever used it reads Postgres meanwhile; it is kept for as long as Postgres
-- may be away.
local FRESH_MS, KEPT_MS, LENT_MS, BUCKETS = 300000, 86400000, 1000, 60
local RECORD, RATE, DEAD = KEYS[1], KEYS[2], KEYS[3]
local FIELDS = {'run', 'account_id', 'key_id', 'scopes', 'status', 'limit', 'window_ms', 'expires_at_ms', 'read_at_ms'}

local calls, wanted = tonumber(ARGV[2]), tonumber(ARGV[3])
local returned, unused, lent_at = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The record. A tombstone means that it is about to change: neither use nor fill the cache.
local dead = redis.call('EXISTS', DEAD) == 1
local record
if ARGV[7] then
    record = {ARGV[1], unpack(ARGV, 7)}
    record[9] = now
    if not dead then
        local pairs_of = {}
        for i, name in ipairs(FIELDS) do
            pairs_of[2 * i - 1], pairs_of[2 * i] = name, record[i]
        end
        redis.call('HSET', RECORD, unpack(pairs_of))
        redis.call('PEXPIRE', RECORD, KEPT_MS)
    end
else
    record = not dead and redis.call('HMGET', RECORD, unpack(FIELDS))
    -- What another run of the server wrote may be older than a change that it forgot.
    if dead or record[1] ~= ARGV[1] then
        return {'ask'}
    end
end
local old = now - tonumber(record[9] or 0) > FRESH_MS and 1 or 0
local limit, window, expires_at = tonumber(record[6]), tonumber(record[7]), tonumber(record[8])
local expired = expires_at > 0 and now >= expires_at
if old == 1 and (expired or record[5] ~= 'active') then
    return {'ask'} -- an old record lets in, and shuts nobody out
end
if expired then
    return {'expired'}
end
local verdict = 'counted'
if record[5] ~= 'active' then
    verdict, calls, wanted, returned = 'inactive', 0, 0, 0
end

-- The window: `total` counts now and nothing leaves it before `leaves_at`; `back` says when a full one grants again.
local width = math.max(1, math.floor(window / BUCKETS))
local kept = redis.call('HMGET', RATE, 'total', 'leaves_at', 'back', 'slot', 'lent', 'lent_before')
local total, leaves_at, back = tonumber(kept[1] or 0), tonumber(kept[2] or 0), kept[3] or ''
local changed, renew = false, false

local function bucket_of(at)
    return math.floor(at / width)
end

local function parse(value)
    local count, last = string.match(value or '0:0', '^(%d+):(%d+)$')
    return tonumber(count), tonumber(last)
end

-- Then the server's clock was put back.
local function too_far_ahead(at)
    return at > now + window + LENT_MS
end

-- Drops what counts no more; gives the rest, the first to leave first.
local function sweep()
    local buckets, fields = {}, redis.call('HGETALL', RATE)
    total, leaves_at, changed = 0, now + window, true
    for i = 1, #fields, 2 do
        if tonumber(fields[i]) then
            local count, last = parse(fields[i + 1])
            if last + window <= now or too_far_ahead(last) then
                redis.call('HDEL', RATE, fields[i])
            else
                total = total + count
                leaves_at = math.min(leaves_at, last + window)
                buckets[#buckets + 1] = {count = count, last = last}
            end
        end
    end
    table.sort(buckets, function(a, b) return a.last < b.last end)
    return buckets
end

local function change(bucket, by, at)
    local count, last = parse(redis.call('HGET', RATE, bucket))
    by = math.max(by, -count)
    if by ~= 0 then
        redis.call('HSET', RATE, bucket, (count + by) .. ':' .. math.max(last, at))
        total, back, changed, renew = total + by, '', true, renew or count == 0
    end
end

local function charge(at, count)
    leaves_at = total == 0 and at + window or math.min(leaves_at, at + window)
    change(bucket_of(at), count, at)
end

-- Milliseconds until enough has left the window for one more call.
local function retry_in()
    local full_for, back_at = parse(back ~= '' and back or nil)
    if full_for == limit and back_at > now then
        return back_at - now
    end
    local free = limit - total
    for _, bucket in ipairs(sweep()) do
        free = free + bucket.count
        if free > 0 then
            back = limit .. ':' .. (bucket.last + window)
            return bucket.last + window - now
        end
    end
    return 0
end

if total > 0 and (now >= leaves_at or too_far_ahead(leaves_at - window)) then
    sweep()
end

-- What is lent at this moment: this second's and the last one's, for each is good for a second.
local now_slot, kept_slot = math.floor(now / LENT_MS), tonumber(kept[4] or 0)
local slot, lent, lent_before = math.max(now_slot, kept_slot), 0, 0
if kept_slot == slot then
    lent, lent_before = tonumber(kept[5] or 0), tonumber(kept[6] or 0)
elseif kept_slot == slot - 1 then
    lent_before = tonumber(kept[5] or 0)
end
if returned > 0 then
    change(bucket_of(lent_at + LENT_MS), -unused, 0)
    local lent_slot = math.floor(lent_at / LENT_MS)
    if lent_slot == slot then
        lent = math.max(0, lent - returned)
    elseif lent_slot == slot - 1 then
        lent_before = math.max(0, lent_before - returned)
    end
end

local granted = math.max(0, math.min(calls, limit - total))
if granted > 0 then
    charge(now, granted)
end
local retry = granted < calls and retry_in() or 0

-- Lend at most 1/16 of the limit, 1/8 over all processes, and only while half the limit is left afterwards.
local lend = 0
if granted == calls and not dead then
    lend = math.max(0, math.min(wanted, math.floor(limit / 16), math.floor(limit / 8) - lent - lent_before,
        math.floor(limit / 2) - total))
end
if lend > 0 then
    charge(now + LENT_MS, lend)
    lent = lent + lend
end

if changed then
    redis.call('HSET', RATE, 'total', total, 'leaves_at', leaves_at, 'back', back)
end
if lend > 0 or returned > 0 then
    redis.call('HSET', RATE, 'slot', slot, 'lent', lent, 'lent_before', lent_before)
end
if renew then
    redis.call('PEXPIRE', RATE, window + width + 2 * LENT_MS)
end
return {
    verdict, granted, math.max(0, limit - total), leaves_at - now, retry, lend, now,
    expires_at > 0 and expires_at - now or -1, old, record[2], record[3], record[4], limit,
}
