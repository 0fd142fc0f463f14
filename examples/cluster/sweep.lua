#!lua flags=allow-oom
-- Forgets what is older than it is kept, of some groups and some missing dSYMs of a shard; the next call goes on with the next ones.
-- KEYS: groups, wanted, swept. ARGV: tag, how many, the oldest day that is kept, the oldest second.
local tag, most, day, second = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

-- Calls check(name) for the next names of a sorted set; it returns whether the name was removed.
local function turn(names, check)
    local at = tonumber(redis.call('HGET', KEYS[3], names) or 0)
    local some = redis.call('ZRANGE', names, at, at + most - 1)
    for _, name in ipairs(some) do
        if not check(name) then at = at + 1 end
    end
    redis.call('HSET', KEYS[3], names, #some < most and 0 or at)
    return #some
end

local groups = turn(KEYS[1], function(group)
    local parts = 'parts:{' .. tag .. '}:' .. group
    local counts, sum = redis.call('HGETALL', parts), 0
    for i = 1, #counts, 2 do
        if counts[i]:sub(1, 10) < day then
            redis.call('HDEL', parts, counts[i])
        else
            sum = sum + tonumber(counts[i + 1])
        end
    end
    if sum > 0 then
        redis.call('ZADD', KEYS[1], sum, group)
        return false
    end
    redis.call('ZREM', KEYS[1], group)
    redis.call('DEL', parts, 'recent:{' .. tag .. '}:' .. group, 'title:{' .. tag .. '}:' .. group)
    return true
end)

local wanted = turn(KEYS[2], function(uuid)
    local waiting = 'wait:{' .. tag .. '}:' .. uuid
    redis.call('ZREMRANGEBYSCORE', waiting, '-inf', '(' .. second)
    local left = redis.call('ZCARD', waiting)
    if left > 0 then
        redis.call('ZADD', KEYS[2], left, uuid)
        return false
    end
    redis.call('ZREM', KEYS[2], uuid)
    return true
end)
return {groups, wanted}
