#!lua flags=allow-oom
-- A dSYM is there: reports that wait for it are put into the stream again, in batches. Returns how many.
-- KEYS: stream, built, wait, wanted. ARGV: how many, the image, seconds that "built" is remembered.
redis.call('SET', KEYS[2], 1, 'EX', ARGV[3])
local popped = redis.call('ZPOPMIN', KEYS[3], ARGV[1])
for i = 1, #popped, 2 do
    redis.call('XADD', KEYS[1], '*', 'id', popped[i], 'attempt', 1)
end
redis.call('ZREM', KEYS[4], ARGV[2])
return #popped / 2
