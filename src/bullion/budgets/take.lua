-- Judge one call and count it, in one step and by this server's clock. See bullion.budgets.limiter.
--
-- KEYS[1]    the address's failures; KEYS[2..] the budgets the call is counted against
-- ARGV[1]    1 if the call itself is a failure, else 0
-- ARGV[2..]  for each key: its limit, and its window in milliseconds
-- Answers {0 taken | 1 throttled | 2 exceeded, limit, calls left, us until the oldest leaves, us until there is room,
-- which of KEYS had to be repaired or 0} of the budget that matters; a limit of -1 says that nothing was counted
-- against any.
--
-- Every order passes here, and calls of Redis are about half of what the script takes: there are as few of them as
-- can be, and their arguments are texts, because numbers are spelled out with seventeen digits first.

local time = redis.call('TIME')
local stamp = time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
local now = tonumber(stamp)
local limits, windows, oldest, counted = {}, {}, {}, {}
local repaired, tolerated = 0, 1000000 -- Clocks differ a little: up to a second is not worth telling.

-- A list is kept for twice its window, from when its first call is counted and from whenever calls leave it. What
-- is counted in between comes less than one window after that, or calls would have left: the list outlives it.
local function keep(place)
  redis.call('PEXPIRE', KEYS[place], 2 * tonumber(ARGV[2 * place + 1]))
end

-- Keep of a key what calls can have left there: a list of times, oldest first. A call that is ahead of this server's
-- clock was counted by another clock, and made before now: it counts as made now, and leaves within a window. What is
-- no time, or more than a window ahead, is dropped: it would refuse calls for ever.
local function repair(place)
  local key, window, kept, changed = KEYS[place], windows[place], {}, false
  local is_list = redis.call('TYPE', key).ok == 'list'
  for _, text in ipairs(is_list and redis.call('LRANGE', key, '0', '-1') or {}) do
    local at = tonumber(text)
    if not (at and at <= now + window) then
      changed = true
    elseif at > now - window then
      changed = changed or at > now + tolerated
      kept[#kept + 1] = at > now and stamp or text
    end
  end
  table.sort(kept, function(one, other) return tonumber(one) < tonumber(other) end)
  redis.call('DEL', key)
  for _, text in ipairs(kept) do redis.call('RPUSH', key, text) end
  if #kept > 0 then keep(place) end
  if changed or not is_list then repaired = place end
  return #kept, tonumber(kept[1])
end

-- A window is a list of the times of its calls, oldest first. Says whether any are left in it.
local function look(place)
  local key, window = KEYS[place], tonumber(ARGV[2 * place + 1]) * 1000
  limits[place], windows[place], counted[place], oldest[place] = tonumber(ARGV[2 * place]), window, 0, now
  local first = redis.pcall('LINDEX', key, '0') -- An error, which is a table, if the key is no list.
  if not first then return false end
  local at = type(first) == 'string' and tonumber(first)
  if at and at <= now - window then
    repeat
      redis.call('LPOP', key)
      first = redis.call('LINDEX', key, '0')
      at = first and tonumber(first)
    until not (at and at <= now - window)
    keep(place)
    if not first then return false end
  end
  if not (at and at <= now) then
    local left
    left, at = repair(place)
    if left == 0 then return false end
  end
  oldest[place] = at
  return true
end

-- The answer to a count is how many there are: to count first, and to take back what has no room, spares a question.
local function count(place)
  counted[place] = redis.call('RPUSH', KEYS[place], stamp) - 1
  if counted[place] == 0 then keep(place) end
end

-- Us until there is room, or nil if there is. Among those counted, `own` is this call. What would refuse for longer
-- than a window is repaired first.
local function wait(place, own)
  local over = counted[place] - limits[place]
  if over < 0 then return nil end
  if limits[place] <= 0 then return windows[place] end
  local at = tonumber(redis.call('LINDEX', KEYS[place], over))
  if not (at and at <= now) then
    local left, first = repair(place)
    counted[place], oldest[place] = left - own, first or now
    over = counted[place] - limits[place]
    if over < 0 then return nil end
    at = tonumber(redis.call('LINDEX', KEYS[place], over))
  end
  return at + windows[place] - now
end

local function full(verdict, place, room)
  return {verdict, limits[place], 0, oldest[place] + windows[place] - now, room, repaired}
end

if look(1) then counted[1] = redis.call('LLEN', KEYS[1]) end
local throttled = wait(1, 0)
if throttled then return full(1, 1, throttled) end

local worst = nil
for place = 2, #KEYS do
  look(place)
  count(place)
  local room = wait(place, 1)
  if room and (not worst or room > worst[5]) then worst = full(2, place, room) end
end
if worst then
  for place = 2, #KEYS do redis.call('RPOP', KEYS[place]) end
  worst[6] = repaired
  return worst
end

if ARGV[1] == '1' then count(1) end
local tightest = {0, -1, 0, 0, 0, repaired}
for place = 2, #KEYS do
  local left = limits[place] - counted[place] - 1
  if tightest[2] == -1 or left < tightest[3] then
    tightest = {0, limits[place], left, oldest[place] + windows[place] - now, 0, repaired}
  end
end
return tightest
