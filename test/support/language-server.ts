import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { root } from './source-tree.js';

interface Told {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
}

/** The part of an answer that an editor shows. */
interface Hover {
  readonly contents?: { readonly value?: string };
}

/**
 * Asks the language server of the compiler for the texts that an editor shows over names of a file. The file marks each
 * name: a comment that is a question mark stands right before it.
 *
 * @returns the texts, in the order of the file.
 */
export async function hoversIn(file: string): Promise<readonly string[]> {
  const server = spawn(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '--lsp', '--stdio'],
    { stdio: ['pipe', 'pipe', 'inherit'], cwd: dirname(file) },
  );
  const gone = once(server, 'exit');
  const answers = new Map<number, (result: unknown) => void>();
  let read = Buffer.alloc(0);
  let asked = 0;
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const ask = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve) => {
      answers.set(++asked, resolve);
      send({ id: asked, method, params });
    });
  const hear = ({ id, method, params, result }: Told): void => {
    if (id === undefined) return;
    if (method === undefined) answers.get(id)?.(result);
    else send({ id, result: params?.items?.map(() => null) ?? null }); // it asks for settings: there are none
  };
  server.stdout.on('data', (part: Buffer) => {
    read = Buffer.concat([read, part]);
    for (;;) {
      const head = read.indexOf('\r\n\r\n');
      const [, length = ''] = /Content-Length: (\d+)/i.exec(read.toString('utf8', 0, head)) ?? [];
      const end = head + 4 + Number(length);
      if (head < 0 || read.length < end) return;
      hear(JSON.parse(read.toString('utf8', head + 4, end)));
      read = read.subarray(end);
    }
  });
  const rootUri = pathToFileURL(dirname(file)).href;
  const hover = { contentFormat: ['markdown'] };
  const capabilities = { textDocument: { hover } };
  await ask('initialize', { processId: process.pid, rootUri, capabilities });
  send({ method: 'initialized', params: {} });
  const textDocument = { uri: pathToFileURL(file).href, languageId: 'typescript', version: 1 };
  const text = readFileSync(file, 'utf8');
  send({ method: 'textDocument/didOpen', params: { textDocument: { ...textDocument, text } } });
  const shown: string[] = [];
  for (const [line, words] of text.split('\n').entries())
    for (const mark of words.matchAll(/\/\*\?\*\//g)) {
      const position = { line, character: mark.index + mark[0].length };
      const answer = (await ask('textDocument/hover', { textDocument, position })) as Hover | null; // as the protocol has it
      shown.push(answer?.contents?.value ?? '');
    }
  await ask('shutdown', {});
  send({ method: 'exit' });
  await gone;
  return shown;
}
