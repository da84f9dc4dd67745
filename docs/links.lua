-- Links from page to page become links within the one page; those to files that are not part of it become plain text.

-- The anchor that a heading gets: GitHub's.
local function anchor_of(heading)
  return (heading:lower():gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

-- A path as seen from docs/, whatever page names it.
local function name_of(path)
  return (path:gsub("#.*$", ""):gsub("^[./]+/", ""):gsub("^docs/", ""))
end

local pages = {} -- anchors of the first headings
for _, path in ipairs(PANDOC_STATE.input_files) do
  for line in io.lines(path) do
    local heading = line:match("^# (.+)$")
    if heading ~= nil then
      pages[name_of(path)] = anchor_of(heading)
      break
    end
  end
end

function Link(link)
  if link.target:match("^%a+:") or link.target:match("^#") then return link end
  local anchor, page = link.target:match("%.md#(.+)$"), name_of(link.target)
  if page == "gallery/index.html" then -- a page of its own, beside this one
    link.target = page
    return link
  end
  if pages[page] == nil then return link.content end
  link.target = "#" .. (anchor or pages[page])
  return link
end
