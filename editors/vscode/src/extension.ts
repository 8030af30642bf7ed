// The client of `git rekal lsp`: hovers and code actions come from the server; the status bar and two commands stand here.
import { spawn } from 'node:child_process'
import * as vscode from 'vscode'
import { LanguageClient } from 'vscode-languageclient/node'

// Line is the answer of "git-rekal/line" (docs/show.md).
interface Line {
  state: 'session' | 'uncommitted' | 'unknown'
  session?: string
  address?: string
  title?: string
  author?: string
  agent?: string
  exact?: boolean
}

// How long the cursor rests, in ms, before its line is asked about.
const rest = 200

let client: LanguageClient | undefined

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const settings = vscode.workspace.getConfiguration('git-rekal')
  const program = { command: settings.get<string>('path', 'git-rekal'), args: ['lsp'] }
  client = new LanguageClient('git-rekal', 'git-rekal', program, {
    documentSelector: [{ scheme: 'file' }],
    initializationOptions: { inlayHints: settings.get<boolean>('inlayHints', false) }
  })
  const status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right, 50)
  status.command = 'git-rekal.openSession'
  let timer: NodeJS.Timeout | undefined
  const later = (editor?: vscode.TextEditor) => {
    clearTimeout(timer)
    timer = setTimeout(() => void show(status, editor), rest)
  }
  context.subscriptions.push(
    status,
    vscode.commands.registerCommand('git-rekal.openSession', openSession),
    vscode.commands.registerCommand('git-rekal.askQuestion', askQuestion),
    vscode.window.onDidChangeTextEditorSelection(e => later(e.textEditor)),
    vscode.window.onDidChangeActiveTextEditor(later)
  )
  if (!await starts(program.command)) {
    void vscode.window.showWarningMessage(`"${program.command}" was not found: put git-rekal on PATH, or name it in the setting git-rekal.path, and reload the window.`)
    return
  }
  await client.start()
  later(vscode.window.activeTextEditor)
}

// starts tells whether there is such a program; the client's own message about it is a dialog that names no remedy.
function starts(command: string): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn(command, ['version'], { stdio: 'ignore' })
    child.once('error', () => resolve(false)).once('spawn', () => resolve(true))
  })
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop()
}

// lineOf asks what stands behind the line of the cursor; undefined where there is nothing to say.
async function lineOf(editor?: vscode.TextEditor): Promise<Line | undefined> {
  if (!client?.isRunning() || editor?.document.uri.scheme !== 'file') return undefined
  const { line, character } = editor.selection.active
  const answer = await client.sendRequest<Line | null>('git-rekal/line', {
    textDocument: { uri: editor.document.uri.toString() }, position: { line, character }
  })
  return answer ?? undefined
}

async function show(status: vscode.StatusBarItem, editor?: vscode.TextEditor): Promise<void> {
  const line = await lineOf(editor).catch(() => undefined)
  if (editor !== vscode.window.activeTextEditor) return
  if (!line?.exact) return status.hide() // a guess is no fact
  status.text = `$(history) ${line.title} · ${line.author}`
  status.tooltip = `${line.agent} wrote this line. Show the session`
  status.show()
}

async function openSession(): Promise<void> {
  const editor = vscode.window.activeTextEditor
  const line = await lineOf(editor)
  if (!editor || !line?.session) {
    vscode.window.setStatusBarMessage('git-rekal: no session is known behind this line', 4000)
    return
  }
  await run('git-rekal.showSession', editor.document.uri, line.address ?? line.session)
}

async function askQuestion(): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri
  const inFolder = active && vscode.workspace.getWorkspaceFolder(active) // a shown session lies outside
  const folder = inFolder ? active : vscode.workspace.workspaceFolders?.[0] && vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, '.git')
  const question = folder && await vscode.window.showInputBox({ prompt: 'Ask the sessions of this repository', placeHolder: 'why does the token expire early' })
  if (folder && question) await run('git-rekal.ask', folder, question)
}

// run has the server make a text, which it then asks the editor to open.
async function run(command: string, uri: vscode.Uri, argument: string): Promise<void> {
  const asked = client?.sendRequest('workspace/executeCommand', { command, arguments: [uri.toString(), argument] })
  await asked?.catch((e: Error) => vscode.window.setStatusBarMessage(`git-rekal: ${e.message}`, 8000))
}
