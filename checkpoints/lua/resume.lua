-- Read the head for whoever resumes, and write down that it was resumed; without its entry the caller has to fetch the
-- state elsewhere first, and writes it down then.
-- ARGV 3 event uid, 4 account, 5 workflow digest, 6 workflow id, 7 agent
-- Answers {'head', head, entry, source} · {'none'} · {'ask', ...}

local head, ask = confirmed_head()
if ask then return ask end
if not head then return { 'none' } end
local entry = entry_of(head.seq)
if not entry then return { 'head', redis.call('HGETALL', KEYS[1]), {}, 'archive' } end
redis.call('XADD', KEYS[4], '*', 't', 'resume', 'u', ARGV[3], 'a', ARGV[4], 'd', ARGV[5], 'w', ARGV[6],
  'g', whole(head.gen), 'q', 0, 'n', ARGV[7], 'o', installed and known.source or 'hot', 'm', whole(now_us()),
  's', whole(head.step), 'v', whole(head.seq), 'e', etag_of(head.gen, head.seq, head.digest))
return { 'head', redis.call('HGETALL', KEYS[1]), entry, installed and known.source or 'hot' }
