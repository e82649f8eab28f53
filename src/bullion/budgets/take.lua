-- Judge one call and count it, in one step and by this server's clock. See bullion.budgets.limiter.
--
-- KEYS[1]    the address's failures; KEYS[2..] the budgets the call is counted against
-- ARGV[1]    1 if the call itself is a failure, else 0
-- ARGV[2..]  for each key: its limit, and its window in microseconds
-- Answers {0 taken | 1 throttled | 2 exceeded, limit, calls left, us until the oldest leaves, us until there is room}
-- of the budget that matters; a limit of -1 says that nothing was counted against any.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- A window is a list of the times of its calls, oldest first.
local function forget(key, window)
  local newest = redis.call('LINDEX', key, -1)
  if newest and tonumber(newest) > now + window then
    redis.call('DEL', key) -- This server's clock was set back by more than the window: begin anew.
    return 0
  end
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) <= now - window do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  return redis.call('LLEN', key)
end

local function count(key, window)
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(window / 1000))
end

local function until_left(key, window, index)
  local stamp = redis.call('LINDEX', key, index)
  if not stamp then return window end
  return tonumber(stamp) + window - now
end

local function full(verdict, key, limit, window, counted)
  local room = window
  if limit > 0 then room = until_left(key, window, counted - limit) end
  return {verdict, limit, 0, until_left(key, window, 0), room}
end

local limits, windows, counted = {}, {}, {}
for place, key in ipairs(KEYS) do
  limits[place] = tonumber(ARGV[2 * place])
  windows[place] = tonumber(ARGV[2 * place + 1])
  counted[place] = forget(key, windows[place])
end

if counted[1] >= limits[1] then
  return full(1, KEYS[1], limits[1], windows[1], counted[1])
end

local worst = nil
for place = 2, #KEYS do
  if counted[place] >= limits[place] then
    local found = full(2, KEYS[place], limits[place], windows[place], counted[place])
    if not worst or found[5] > worst[5] then worst = found end
  end
end
if worst then return worst end

if ARGV[1] == '1' then count(KEYS[1], windows[1]) end
local tightest = {0, -1, 0, 0, 0}
for place = 2, #KEYS do
  count(KEYS[place], windows[place])
  local left = limits[place] - counted[place] - 1
  if tightest[2] == -1 or left < tightest[3] then
    tightest = {0, limits[place], left, until_left(KEYS[place], windows[place], 0), 0}
  end
end
return tightest
