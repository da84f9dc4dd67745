-- Links from page to page become links within the one page; those to files that are not part of it become plain text.
local pages = {
  ["README.md"] = "percuss", ["tutorial.md"] = "tutorial", ["manual.md"] = "manual", ["theory.md"] = "theory",
  ["howto.md"] = "how-to", ["install.md"] = "installing-editors-shells", ["library.md"] = "the-library", ["python.md"] = "percuss-in-python", ["validation.md"] = "validation", ["scaling.md"] = "over-ranks-how-it-works-what-it-costs-where-it-ends", ["CHANGELOG.md"] = "changes",
  ["src/schemes/README.md"] = "the-schemes-and-their-equations",
}

function Link(link)
  if link.target:match("^%a+:") or link.target:match("^#") then return link end
  local anchor = link.target:match("%.md#(.+)$")
  local path = link.target:gsub("#.*$", ""):gsub("^%.%./", ""):gsub("^docs/", "")
  if anchor ~= nil and path ~= "ARCHITECTURE.md" then
    link.target = "#" .. anchor
    return link
  end
  if path == "gallery/index.html" then -- a page of its own, beside this one
    link.target = path
    return link
  end
  if pages[path] == nil then return link.content end
  link.target = "#" .. pages[path]
  return link
end
