-- Judge one call and count it, in one step and by this server's clock. See bullion.budgets.limiter.
--
-- KEYS[1]    the address's failures; KEYS[2..] the budgets the call is counted against
-- ARGV[1]    1 if the call itself is a failure, else 0
-- ARGV[2..]  for each key: its limit, and its window in milliseconds
-- Answers {0 taken | 1 throttled | 2 exceeded, limit, calls left, us until the oldest leaves, us until there is room}
-- of the budget that matters; a limit of -1 says that nothing was counted against any.
--
-- Every order passes here, and calls of Redis are about half of what the script takes: there are as few of them as
-- can be, and their arguments are texts, because numbers are spelled out with seventeen digits first.

local time = redis.call('TIME')
local stamp = time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
local now = tonumber(stamp)
local limits, windows, oldest, counted = {}, {}, {}, {}

-- A list is kept for twice its window, from when its first call is counted and from whenever calls leave it. What
-- is counted in between comes less than one window after that, or calls would have left: the list outlives it.
local function keep(place)
  redis.call('PEXPIRE', KEYS[place], 2 * tonumber(ARGV[2 * place + 1]))
end

-- A window is a list of the times of its calls, oldest first. Says whether any are left in it.
local function look(place)
  local key, window = KEYS[place], tonumber(ARGV[2 * place + 1]) * 1000
  limits[place], windows[place], counted[place], oldest[place] = tonumber(ARGV[2 * place]), window, 0, now
  local first = redis.call('LINDEX', key, '0')
  if first and tonumber(first) <= now - window then
    repeat
      redis.call('LPOP', key)
      first = redis.call('LINDEX', key, '0')
    until not first or tonumber(first) > now - window
    keep(place)
  end
  if not first then return false end
  oldest[place] = tonumber(first)
  if oldest[place] > now and tonumber(redis.call('LINDEX', key, '-1')) > now + window then
    redis.call('DEL', key) -- This server's clock was set back by more than the window: begin anew.
    oldest[place] = now
    return false
  end
  return true
end

-- The answer to a count is how many there are: to count first, and to take back what has no room, spares a question.
local function count(place)
  counted[place] = redis.call('RPUSH', KEYS[place], stamp) - 1
  if counted[place] == 0 then keep(place) end
end

local function full(verdict, place)
  local window, room = windows[place], windows[place]
  local over = counted[place] - limits[place]
  if limits[place] > 0 then room = tonumber(redis.call('LINDEX', KEYS[place], over)) + window - now end
  return {verdict, limits[place], 0, oldest[place] + window - now, room}
end

if look(1) then counted[1] = redis.call('LLEN', KEYS[1]) end
if counted[1] >= limits[1] then return full(1, 1) end

local worst = nil
for place = 2, #KEYS do
  look(place)
  count(place)
  if counted[place] >= limits[place] then
    local found = full(2, place)
    if not worst or found[5] > worst[5] then worst = found end
  end
end
if worst then
  for place = 2, #KEYS do redis.call('RPOP', KEYS[place]) end
  return worst
end

if ARGV[1] == '1' then count(1) end
local tightest = {0, -1, 0, 0, 0}
for place = 2, #KEYS do
  local left = limits[place] - counted[place] - 1
  if tightest[2] == -1 or left < tightest[3] then
    tightest = {0, limits[place], left, oldest[place] + windows[place] - now, 0}
  end
end
return tightest
