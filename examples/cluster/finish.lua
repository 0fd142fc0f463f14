#!lua flags=allow-oom
-- Keeps the result of one report, counts it in its groups, notes what it waits for, and acknowledges the work: all of it or nothing, as
-- Redis runs a script and sends it to the replica as one. Called twice it changes nothing more, so work may be given out twice.
-- All keys have the hash tag of the report's shard, as KEYS[1] has it. It may go over maxmemory (allow-oom): what was accepted is done, and
-- ingest, which may not, bounds how much that is.
-- KEYS: stream, result. ARGV: tag, report id, entry id, attempt, seconds to keep, bounds as JSON, and as JSON what is kept.
local tag, id, entry, attempt, keep = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local bounds, new = cjson.decode(ARGV[6]), cjson.decode(ARGV[7])

local function key(kind, name)
    return kind .. ':{' .. tag .. '}' .. (name and (':' .. name) or '')
end

local function forget(group)
    redis.call('ZREM', key('groups'), group)
    redis.call('DEL', key('parts', group), key('recent', group), key('title', group))
end

-- A part is a day, a program and a version: a group counts each.
local function count(group, part, by)
    local parts = key('parts', group)
    if redis.call('HINCRBY', parts, part, by) <= 0 then
        redis.call('HDEL', parts, part)
    end
    if redis.call('HLEN', parts) > bounds.parts then
        local names = redis.call('HKEYS', parts)
        table.sort(names)
        redis.call('HDEL', parts, names[1])
    end
    redis.call('EXPIRE', parts, keep)
    if tonumber(redis.call('ZINCRBY', key('groups'), by, group)) <= 0 then
        forget(group)
    elseif redis.call('ZCARD', key('groups')) > bounds.groups then
        forget(redis.call('ZPOPMIN', key('groups'))[1])
    end
end

local function join(group, part, title)
    count(group, part, 1)
    redis.call('SET', key('title', group), title, 'EX', keep)
    redis.call('LPUSH', key('recent', group), id)
    redis.call('LTRIM', key('recent', group), 0, bounds.recent - 1)
    redis.call('EXPIRE', key('recent', group), keep)
end

local function leave(group, part)
    redis.call('LREM', key('recent', group), 0, id)
    count(group, part, -1)
end

-- The report waits for a dSYM; or it is done again at once, when the dSYM came while this one was at work.
local function wait_for(image)
    if attempt < bounds.deliveries and redis.call('EXISTS', key('built', image[1])) == 1 then
        return true
    end
    local waiting = key('wait', image[1])
    if redis.call('SCARD', waiting) < bounds.waiting then
        redis.call('SADD', waiting, id)
        redis.call('EXPIRE', waiting, keep)
        redis.call('SET', key('image', image[1]), image[2], 'EX', keep)
        redis.call('ZADD', key('wanted'), redis.call('SCARD', waiting), image[1])
        if redis.call('ZCARD', key('wanted')) > bounds.groups then redis.call('ZPOPMIN', key('wanted')) end
    end
    return false
end

local function no_longer_waits(image)
    redis.call('SREM', key('wait', image[1]), id)
    local left = redis.call('SCARD', key('wait', image[1]))
    if left > 0 then redis.call('ZADD', key('wanted'), left, image[1]) else redis.call('ZREM', key('wanted'), image[1]) end
end

local stored = redis.call('HGET', KEYS[2], 'state')
local kept = stored and cjson.decode(stored)
-- Symbols only come, so a result that lacks fewer images is the newer one.
if not kept or #new.missing < #kept.missing then
    for _, image in ipairs(kept and kept.missing or {}) do no_longer_waits(image) end
    for _, g in ipairs(kept and kept.groups or {}) do leave(g[1], g[2]) end
    for _, g in ipairs(new.groups) do join(g[1], g[2], g[3]) end
    redis.call('HSET', KEYS[2], 'state', ARGV[7], 'result', ARGV[8], 'missing', #new.missing)
    redis.call('EXPIRE', KEYS[2], keep)
    if not kept then redis.call('INCR', key('reports')) end
    if #new.missing == 0 and not new.error then redis.call('DEL', key('raw', id)) end
    if new.error then
        redis.call('XADD', key('dead'), 'MAXLEN', '~', bounds.dead, '*', 'id', id, 'error', new.error)
    end
    kept = new
end
-- It waits for what it lacks, whether this was the first time or not.
local again = false
for _, image in ipairs(kept.missing) do again = wait_for(image) or again end
if again then redis.call('XADD', KEYS[1], '*', 'id', id, 'attempt', attempt + 1) end
redis.call('XACK', KEYS[1], 'workers', entry)
redis.call('XDEL', KEYS[1], entry)
return 1
