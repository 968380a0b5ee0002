-- What tests/test_neovim.py has Neovim do with a program, in the editor's own words; a line of JSON for each answer.
local seconds = 30

local function tell(what, answer)
  io.stdout:write(vim.json.encode({ what, answer }) .. "\n")
end

local function wait(done)
  if not vim.wait(seconds * 1000, done, 50) then
    vim.cmd("cquit 3")
  end
end

local function client()
  return vim.lsp.get_clients({ name = "cepc" })[1]
end

local function at(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      vim.api.nvim_win_set_cursor(0, { number, column - 1 })
      return vim.lsp.util.make_position_params(0, client().offset_encoding)
    end
  end
end

local function ask(method, parameters)
  return client():request_sync(method, parameters, seconds * 1000, 0).result
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

local function work()
  wait(client)
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    tell("diagnostic", { line = diagnostic.lnum + 1, code = diagnostic.code, message = diagnostic.message })
  end
  local column = at("idd").position.character
  vim.lsp.buf.code_action({ apply = true, range = { start = { 6, column }, ["end"] = { 6, column + 3 } } })
  wait(function() return not text():find("idd", 1, true) end)
  wait(function() return #vim.diagnostic.get(0) == 0 end)
  tell("cured", text())
  tell("hover", ask("textDocument/hover", at("o.id")).contents.value)
  tell("definition", ask("textDocument/definition", at("o.id")).range.start)
  at("o.id")
  vim.lsp.buf.rename("asked")
  wait(function() return text():find("asked.id", 1, true) end)
  vim.lsp.buf.format({ timeout_ms = seconds * 1000 })
  tell("formatted", text())
end

local worked, why = pcall(work)
if not worked then
  tell("failed", why)
end
vim.cmd(worked and "qall!" or "cquit 3")
