-- Random methods, paths, queries and header values. Not HEAD: wrk waits
-- for a body after it.
local methods = { "GET", "GET", "GET", "OPTIONS", "POST", "PUT", "DELETE", "BREW" }
local paths = { "/api/get-content-type", "/api/resolve", "/api/frontend-url", "/api/build-sitemap", "/livez",
  "/readyz", "/sitemaps/main/", "/hooks/cms", "/metrics", "/" }
local names = { "site", "pathname", "uid", "documentId", "contentType", "locale", "status", "compact", "xml", "debug" }

local function word()
  local letters = {}
  for n = 1, math.random(12) do letters[n] = string.char(math.random(97, 122)) end
  return table.concat(letters)
end

function init() math.randomseed(os.time()) end

-- wrk checks the first request of all, and knows fewer methods.
local is_first = true

function request()
  local path = math.random(4) == 1 and "/" .. word() .. "/" .. word() or paths[math.random(#paths)]
  local query = {}
  for n = 1, math.random(0, 4) do
    query[n] = names[math.random(#names)] .. "=" .. (math.random(3) == 1 and "main" or word())
  end
  local headers = { ["X-Request-Id"] = word(), ["User-Agent"] = word(), ["Origin"] = "https://" .. word() .. ".example" }
  local method = is_first and "GET" or methods[math.random(#methods)]
  is_first = false
  return wrk.format(method, path .. "?" .. table.concat(query, "&"), headers)
end
