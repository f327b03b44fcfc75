-- What a day brings, in random order: mostly page renders, some of them wrong, now and then the rest.
local site = "/api/get-content-type?site=main&pathname="
local uid = "plugin::cms.article"
local rare = {
  function(n) return "/api/frontend-url?uid=" .. uid .. "&documentId=d" .. string.format("%04d", n % 600) end,
  function(n) return "/api/build-sitemap?site=main&contentType=" .. uid end,
  function(n) return "/api/build-sitemap?site=main&contentType=" .. uid .. "&xml=true" end,
  function(n) return "/api/resolve?site=main&pathname=/en/articles/slug-" .. n end,
  function(n) return "/readyz" end,
  function(n) return "/no/such/route/" .. n end,
  function(n) return "/api/frontend-url?uid=" .. uid .. "&documentId=%ff" end,
}

function init() math.randomseed(os.time()) end

function request()
  local dice, n = math.random(1000), math.random(1000000)
  local path
  if dice <= 700 then path = site .. "/en/articles/slug-" .. n
  elseif dice <= 850 then path = site .. "/en/none/" .. n
  elseif dice <= 900 then path = site .. "/en/articles/%ff" .. n
  elseif dice <= 950 then path = site .. "/en/articles/a-" .. n .. "&compact=true&debug=1"
  else path = rare[dice % #rare + 1](n) end
  return wrk.format("GET", path)
end
