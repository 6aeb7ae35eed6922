#!lua flags=allow-oom
-- Write down a read that was answered from a colder tier.
-- KEYS 1 events · ARGV 1 run, 2 event

redis.call('XADD', KEYS[1], '*', 'e', ARGV[2])
return 1
