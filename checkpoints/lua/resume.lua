-- Read the head for whoever resumes, and write down that it was resumed; without its entry the caller has to fetch the
-- state elsewhere first, and writes it down then.
-- ARGV 3 event
-- Answers {'head', head, entry, source} · {'none'} · {'ask', ...}

local head, ask = confirmed_head()
if ask then return ask end
if not head then return { 'none' } end
local entry = entry_of(head.seq)
if not entry then return { 'head', redis.call('HGETALL', KEYS[1]), {}, 'archive' } end
queue_event(ARGV[3], 'g', whole(head.gen), 'q', 0, 'o', installed and known.source or 'hot', 'm', whole(now_us()),
  's', whole(head.step), 'v', whole(head.seq), 'e', etag_of(head.gen, head.seq, head.digest))
return { 'head', redis.call('HGETALL', KEYS[1]), entry, installed and known.source or 'hot' }
