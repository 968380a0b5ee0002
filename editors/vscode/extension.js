// Starts `cepc lsp` and connects the editor to it. Colours need none of this.

const vscode = require("vscode");

let client;

async function start() {
  let languageClient;
  try {
    languageClient = require("vscode-languageclient/node");
  } catch {
    vscode.window.showWarningMessage("cep: only colours; `npm install` in the extension's folder brings the rest.");
    return;
  }
  const settings = vscode.workspace.getConfiguration("cepc");
  const command = settings.get("path") || "cepc";
  const server = { command, args: ["lsp"], transport: languageClient.TransportKind.stdio };
  client = new languageClient.LanguageClient("cepc", "cepc", server, {
    documentSelector: [{ language: "cep", scheme: "file" }, { language: "cep", scheme: "untitled" }],
    initializationOptions: { statistics: settings.get("statistics") || "" },
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.cep") },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const cure = "`pip install 'cepc[lsp]'`, or say in the setting cepc.path where it is.";
    vscode.window.showErrorMessage(`\`${command} lsp\` did not start (${error.message}): ${cure}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("cepc.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("cepc") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
