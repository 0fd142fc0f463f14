#!lua flags=allow-oom
-- Keeps results of reports of a shard, counts them in their groups, notes what they wait for, and acknowledges the work: all of it or
-- nothing, as Redis runs a script and sends it to the replica as one. Called twice it changes nothing more, so work may be given out
-- twice. All keys have the hash tag of the shard, as KEYS[1] has it. It may go over maxmemory (allow-oom): what was accepted is done, and
-- ingest, which may not, bounds how much that is.
-- KEYS: stream, and of each report the result. ARGV: tag, seconds to keep, bounds as JSON; and of each report its id, entry, attempt, its
-- state as JSON, and what is kept.
local tag, keep, bounds = ARGV[1], ARGV[2], cjson.decode(ARGV[3])
local now = tonumber(redis.call('TIME')[1])

local function key(kind, name)
    return kind .. ':{' .. tag .. '}' .. (name and (':' .. name) or '')
end

local function forget(group)
    redis.call('ZREM', key('groups'), group)
    redis.call('DEL', key('parts', group), key('recent', group), key('title', group))
end

-- A part is a day, a program and a version: a group counts each. Its score is the sum of its parts.
local function count(group, part, by)
    local parts = key('parts', group)
    local sum = by
    if redis.call('HINCRBY', parts, part, by) <= 0 then
        redis.call('HDEL', parts, part)
    end
    if redis.call('HLEN', parts) > bounds.parts then
        local names = redis.call('HKEYS', parts)
        table.sort(names)
        sum = sum - tonumber(redis.call('HGET', parts, names[1]))
        redis.call('HDEL', parts, names[1])
    end
    redis.call('EXPIRE', parts, keep)
    if tonumber(redis.call('ZINCRBY', key('groups'), sum, group)) <= 0 then
        forget(group)
    elseif redis.call('ZCARD', key('groups')) > bounds.groups then
        forget(redis.call('ZPOPMIN', key('groups'))[1])
    end
end

local function join(id, group, part, title)
    count(group, part, 1)
    redis.call('SET', key('title', group), title, 'EX', keep)
    redis.call('LPUSH', key('recent', group), id)
    redis.call('LTRIM', key('recent', group), 0, bounds.recent - 1)
    redis.call('EXPIRE', key('recent', group), keep)
end

local function leave(id, group, part)
    redis.call('LREM', key('recent', group), 0, id)
    -- sweep.lua forgets days that are long past
    if redis.call('HEXISTS', key('parts', group), part) == 1 then count(group, part, -1) end
end

local function want(uuid)
    local left = redis.call('ZCARD', key('wait', uuid))
    if left > 0 then redis.call('ZADD', key('wanted'), left, uuid) else redis.call('ZREM', key('wanted'), uuid) end
end

-- The report waits for a dSYM; or it is done again at once, when the dSYM came while this one was at work.
local function wait_for(id, attempt, uuid, name)
    if attempt < bounds.deliveries and redis.call('EXISTS', key('built', uuid)) == 1 then
        return true
    end
    local waiting = key('wait', uuid)
    if redis.call('ZCARD', waiting) < bounds.waiting then
        redis.call('ZADD', waiting, now, id)
        redis.call('EXPIRE', waiting, keep)
        redis.call('SET', key('image', uuid), name, 'EX', keep)
        want(uuid)
        if redis.call('ZCARD', key('wanted')) > bounds.groups then redis.call('ZPOPMIN', key('wanted')) end
    end
    return false
end

local function finish(result, id, attempt, text, packed)
    local stored = redis.call('HGET', result, 'state')
    local kept, new = stored and cjson.decode(stored), cjson.decode(text)
    -- Symbols only come, so a result that lacks fewer images is the newer one.
    if not kept or new.lacks < kept.lacks then
        for _, image in ipairs(kept and kept.missing or {}) do
            redis.call('ZREM', key('wait', image[1]), id)
            want(image[1])
        end
        for _, g in ipairs(kept and kept.groups or {}) do leave(id, g[1], g[2]) end
        for _, g in ipairs(new.groups) do join(id, g[1], g[2], g[3]) end
        redis.call('HSET', result, 'state', text, 'result', packed, 'missing', new.lacks)
        redis.call('EXPIRE', result, keep)
        if not kept then redis.call('INCR', key('reports')) end
        if new.lacks == 0 and not new.error then redis.call('DEL', key('raw', id)) end
        if new.error then
            redis.call('XADD', key('dead'), 'MAXLEN', '~', bounds.dead, '*', 'id', id, 'error', new.error)
        end
        kept = new
    end
    -- It waits for what it lacks, whether this was the first time or not.
    local again = false
    for _, image in ipairs(kept.missing) do again = wait_for(id, attempt, image[1], image[2]) or again end
    if again then redis.call('XADD', KEYS[1], '*', 'id', id, 'attempt', attempt + 1) end
end

local entries = {}
for i = 2, #KEYS do
    local at = 4 + 5 * (i - 2)
    finish(KEYS[i], ARGV[at], tonumber(ARGV[at + 2]), ARGV[at + 3], ARGV[at + 4])
    entries[#entries + 1] = ARGV[at + 1]
end
redis.call('XACK', KEYS[1], 'workers', unpack(entries))
redis.call('XDEL', KEYS[1], unpack(entries))
return #entries
