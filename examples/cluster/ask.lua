#!lua flags=allow-oom
-- Asks the builders to make an image's chunks again, unless they were asked lately: both or neither, as who asks may end in between.
-- KEYS: stream, asked. ARGV: the job, seconds that "asked" is remembered. Returns whether they were asked now.
if not redis.call('SET', KEYS[2], 1, 'NX', 'EX', ARGV[2]) then return 0 end
redis.call('XADD', KEYS[1], '*', 'id', ARGV[1])
return 1
